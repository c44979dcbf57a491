// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A target whose every property the test sets.
package struct TestTarget: TargetType {
    package var baseURL = URL(filePath: "/")
    package var path: RequestPath = "/things"
    package var method = HTTPMethod.get
    package var task = HTTPTask.plain
    package var headers: HTTPHeaders = [:]
    package var validation = StatusValidation.none
    package var options = CallOptions()
    package var sampleResponse = SampleResponse.response(status: 200, data: Data(#"{"name":"tea"}"#.utf8))

    package init(_ baseURL: URL) {
        self.baseURL = baseURL
    }

    package func with(_ change: (inout TestTarget) -> Void) -> TestTarget {
        var target = self
        change(&target)
        return target
    }
}

/// The error that tests throw where any will do.
package struct Boom: Error, Equatable {
    package init() {}
}

extension URL {
    /// A base URL that nothing answers at; for calls that are not sent.
    package static let example = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")
}
