// SPDX-License-Identifier: MIT
import TargetKit

nonisolated enum Orders: RoutedTarget {
    case latest

    var baseURL: URL { URL(filePath: "/") }
    var route: Route { .get("/orders") }
}

nonisolated struct TracePlugin: Plugin {}

nonisolated struct ServerPlugin: Plugin {
    var place: PluginPlace { .environment }
}
