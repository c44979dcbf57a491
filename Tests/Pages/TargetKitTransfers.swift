// SPDX-License-Identifier: MIT
import Foundation

let file = URL(filePath: "/")
