// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitJSON

nonisolated let server = URL(filePath: "/")
nonisolated let provider = Provider<ShopGraph>()

nonisolated struct Product: ResponseModel {
    var id: Int
    var name: String
}

nonisolated func digest(of text: String) -> String { text }
