// SPDX-License-Identifier: MIT
import TargetKit

let server = URL(filePath: "/")
let file = URL(filePath: "/")
let provider = Provider<Studio>()
