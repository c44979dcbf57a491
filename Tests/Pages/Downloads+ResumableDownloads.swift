// SPDX-License-Identifier: MIT
import TargetKit

let server = URL(filePath: "/")
let folder = URL(filePath: "/")
let file = URL(filePath: "/")
let provider = Provider<Archive>()

func show(_ fraction: Double?) {}
func show(_ result: Result<Response, TargetKitError>) {}
