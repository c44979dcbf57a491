// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// The snippets of the pages about options and about the path of a call, compiled and run.
@Suite("Pages: Options, The path of a call", .throttled, .timeLimit(.minutes(2)))
struct OptionsPageTests {
    @Test("Options: the call's timeout is beside the provider's, and the target's option counts")
    func timeouts() async throws {
        let seen = Recorder<CallOptions>()
        let provider = Provider<Reports>(
            stubClosure: { _ in .immediate },
            plugins: [OptionsPlugin(seen: seen)],
            options: .setting(\.timeout, .exchange(.seconds(20)))
        )
        _ = try await provider.request(.yearly, options: .setting(\.timeout, .wholeCall(.seconds(90))))
        let options = try #require(seen.elements.first)
        #expect(options.timeout == CallTimeout(exchange: .seconds(20), wholeCall: .seconds(90)))
        #expect(options.sharesInFlight)
        #expect(!options.isTraced)
    }

    @Test("The path of a call: any order of the array runs the plugins by their places")
    func places() async throws {
        for plugins in [[TracePlugin(), ServerPlugin()], [ServerPlugin(), TracePlugin()]] as [[any Plugin]] {
            let provider = Provider<Orders>(stubClosure: { _ in .immediate }, plugins: plugins)
            let response = try await provider.request(.latest)
            #expect(response.request?.value(forHTTPHeaderField: "X-Seen") == "server, trace")
        }
    }

    @Test("Every line of Swift on the pages is a line of this file", arguments: ["Options.md", "CallPath.md"])
    func everySnippetIsHere(page: String) throws {
        let known = try DocumentationPage.lines(at: "Tests/TargetKitTests/OptionsPageTests.swift").union(Self.elsewhere)
        let lines = try DocumentationPage("Sources/TargetKit/TargetKit.docc/" + page).lines()
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(known.contains(line), "\(line)")
        }
    }

    @Test("The page about the path of a call quotes the code as it is")
    func quotedCode() throws {
        let page = try DocumentationPage("Sources/TargetKit/TargetKit.docc/CallPath.md").text()
        let quote = try #require(page.components(separatedBy: "```text\n").dropFirst(2).first)
            .components(separatedBy: "```")[0]
        let source = try DocumentationPage("Sources/TargetKit/Call/Call.swift").text()
        let functions = quote.components(separatedBy: "\n\n").map { function in
            function.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n") + "\n"
        }
        #expect(functions.count == 4)
        for function in functions { #expect(source.contains(function), "\(function)") }
    }

    /// What would make a real call.
    private static let elsewhere = [
        "let provider = Provider<Reports>(options: .setting(\\.timeout, .exchange(.seconds(20))))",
        "let report = try await provider.request(.yearly, options: .setting(\\.timeout, .wholeCall(.seconds(90))))",
        "let provider = Provider<Orders>(plugins: [TracePlugin(), ServerPlugin()])",
    ]
}

private enum Reports: RoutedTarget {
    case yearly
    case daily

    var baseURL: URL { .example }
    var route: Route { .get("/reports") }
}

extension Reports {
    var options: CallOptions {
        switch self {
        case .yearly: .setting(\.timeout, .wholeCall(.seconds(60))).setting(\.sharesInFlight, true)
        case .daily: .init()
        }
    }
}

enum TraceKey: CallOptionKey {
    static let defaultValue = false
}

extension CallOptions {
    nonisolated var isTraced: Bool {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}

private struct OptionsPlugin: Plugin {
    let seen: Recorder<CallOptions>

    func didFinish(_ call: FinishedCall, context: RequestContext) {
        seen.append(context.options)
    }
}

private enum Orders: RoutedTarget {
    case latest

    var baseURL: URL { .example }
    var route: Route { .get("/orders") }
}

private struct TracePlugin: Plugin {
    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        request.seen("trace")
    }
}

private struct ServerPlugin: Plugin {
    var place: PluginPlace { .environment }

    func prepare(_ request: URLRequest, context: RequestContext) async throws -> URLRequest {
        request.seen("server")
    }
}

extension URLRequest {
    fileprivate func seen(_ name: String) -> URLRequest {
        var request = self
        let before = request.value(forHTTPHeaderField: "X-Seen").map { $0 + ", " } ?? ""
        request.setValue(before + name, forHTTPHeaderField: "X-Seen")
        return request
    }
}
