// SPDX-License-Identifier: MIT
import Foundation

nonisolated let file = URL(filePath: "/")
