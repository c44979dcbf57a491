// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Report: RoutedTarget {
    case daily

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .post("/reports") }
}

nonisolated let file = URL(filePath: "/")
