// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// A film about tea, as a file.
package enum Film: ShopTarget {
    case download(into: URL)

    package var route: Route {
        switch self {
        case .download(let file): .get("/media/film", .download(to: file))
        }
    }

    package var options: CallOptions { .setting(\.authorization, .none) }

    package var sampleData: Data { Data("film".utf8) }
}
