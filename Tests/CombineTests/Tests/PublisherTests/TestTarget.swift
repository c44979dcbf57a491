// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A target whose every property the test sets.
struct TestTarget: TargetType {
    var baseURL = URL(filePath: "/")
    var path: RequestPath = "/things"
    var method = HTTPMethod.get
    var task = HTTPTask.plain
    var headers: HTTPHeaders = [:]
    var validation = StatusValidation.none
    var options = CallOptions()
    var sampleResponse = SampleResponse.response(status: 200, data: Data(#"{"name":"tea"}"#.utf8))

    init(_ baseURL: URL) {
        self.baseURL = baseURL
    }

    func with(_ change: (inout TestTarget) -> Void) -> TestTarget {
        var target = self
        change(&target)
        return target
    }
}

/// The error that tests throw where any will do.
struct Boom: Error, Equatable {}

extension URL {
    /// A base URL that nothing answers at; for calls that are not sent.
    static let example = URL(string: "https://api.example.com/v1") ?? URL(filePath: "/")
}
