// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// A film about tea, as a file.
package enum Film {
    case download(into: URL)
}

extension Film: ShopTarget {
    package var route: Route {
        switch self {
        case .download(let file): .get("/media/film", .download(to: file))
        }
    }

    package var options: CallOptions { .setting(\.authorization, .none) }

    package var sampleData: Data { Data("film".utf8) }
}
