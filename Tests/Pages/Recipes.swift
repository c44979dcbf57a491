// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Servers {
    static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
}
