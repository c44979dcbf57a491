// SPDX-License-Identifier: MIT
import TargetKit

enum Reports: RoutedTarget {
    case yearly
    case daily

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/reports") }
}
