// SPDX-License-Identifier: MIT
import TargetKitTesting

let calls = RequestLog()
let folder = URL(filePath: "/tmp")
