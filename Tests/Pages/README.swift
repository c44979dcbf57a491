// SPDX-License-Identifier: MIT
import TargetKit

enum Shop {
    static let baseURL = URL(string: "https://shop.example/v1") ?? URL(filePath: "/")
}
