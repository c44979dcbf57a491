// SPDX-License-Identifier: MIT
import TargetKit

struct Product: Decodable, Sendable {
    var id: Int
    var name: String
}
