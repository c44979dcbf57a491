// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Reports: RoutedTarget {
    case yearly
    case daily

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/reports") }
}
