// SPDX-License-Identifier: MIT
import TargetKit

enum Orders: RoutedTarget {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/orders") }
}

struct TracePlugin: Plugin {}
