// SPDX-License-Identifier: MIT
import TargetKit

enum Servers {
    static let api = URL(string: "https://api.shop.example/v1") ?? URL(filePath: "/")
}

func show(_ products: [Product]) {}
func toast(_ text: String) {}
