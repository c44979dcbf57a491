// SPDX-License-Identifier: MIT
import TargetKit

nonisolated struct Product: ResponseModel {
    var id: Int
    var name: String
}
