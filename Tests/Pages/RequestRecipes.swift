// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

let reachability = Reachability()

func digest(of text: String) -> String { text }
func encrypt(_ data: Data) throws -> Data { data }
func decrypt(_ data: Data) throws -> Data { data }
