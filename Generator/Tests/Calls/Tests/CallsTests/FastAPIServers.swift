// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import Testing

/// The three servers of Tests/FastAPI, from the line that `serve.py` prints.
struct FastAPIServers {
    /// The ports by the name of the server.
    let ports: [String: Int]

    static let shared = FastAPIServers(ProcessInfo.processInfo.environment["TARGETKIT_FASTAPI"] ?? "")

    private init(_ line: String) {
        ports = (try? JSONDecoder().decode([String: Int].self, from: Data(line.utf8))) ?? [:]
    }

    var areRunning: Bool { ports.count == 3 }

    /// A provider whose calls go to a server, and not to the one of the document.
    func provider<Target: TargetType>(
        of type: Target.Type = Target.self,
        at server: String,
        plugins: [any Plugin] = []
    ) -> Provider<Target> {
        let port = ports[server]
        return Provider(
            endpointClosure: { target in
                var endpoint = try Endpoint(target: target)
                var parts = URLComponents(url: endpoint.url, resolvingAgainstBaseURL: false)
                parts?.port = port
                endpoint.url = try #require(parts?.url)
                return endpoint
            },
            plugins: plugins
        )
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips the tests if the servers aren't there, and says how to start them.
    static var needsServers: ConditionTrait {
        .enabled(
            if: FastAPIServers.shared.areRunning,
            "set TARGETKIT_FASTAPI to the line that Generator/Tests/FastAPI/serve.py prints"
        )
    }
}
