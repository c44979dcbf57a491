// SPDX-License-Identifier: MIT
import Foundation

nonisolated let server = URL(filePath: "/")
