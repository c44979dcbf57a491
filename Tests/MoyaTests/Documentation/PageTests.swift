// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitMoya
import TargetKitPlugins
import TestSupport
import Testing

// The code of the pages, of which the one about the way to TargetKit uses all of the modules in one file.

enum Tea {
    case today
    case member(name: String)
}

extension Tea: Moya.TargetType {
    // swift-format-ignore: NeverForceUnwrap
    var baseURL: URL { URL(string: "https://tea.example.com")! }

    var path: String {
        switch self {
        case .today: return "/today"
        case .member(let name): return "/members/\(name)"
        }
    }

    var method: Moya.Method { .get }

    var task: Task { .requestPlain }

    var headers: [String: String]? { ["Accept": "application/json"] }

    var sampleData: Data { Data(#"{"name":"Ann"}"#.utf8) }
}

struct Member: Decodable {
    var name: String
}

enum TeaAPI: TargetKit.TargetType {
    case today
    case member(name: String)

    var baseURL: URL { Tea.today.baseURL }

    var path: RequestPath {
        switch self {
        case .today: "/today"
        case .member(let name): "/members/\(name)"
        }
    }

    var headers: TargetKit.HTTPHeaders { ["Accept": "application/json"] }
    var validation: StatusValidation { .none }

    var sampleData: Data { Data(#"{"name":"Ann"}"#.utf8) }
}

@Suite("Pages of TargetKitMoya")
struct PageTests {
    @Test(
        "Every line of Swift on a page is a line of a file in this folder",
        arguments: DocumentationPage.pages(in: "Sources/MoyaCompatibility/TargetKitMoya.docc")
            .filter { $0.description != "ReactiveExtensions.md" }
    )
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/MoyaTests/Documentation")
        for line in try page.lines() {
            let line = line.replacingOccurrences(
                of: "extension Tea: TargetType",
                with: "extension Tea: Moya.TargetType"
            )
            #expect(known.contains(line), "\(page): \(line)")
        }
    }

    /// The steps' providers with the network: those here are stubbed, and the tests of the calls are elsewhere.
    func unstubbed() async throws {
        let provider = Self.provider
        let patient = MoyaProvider<Tea>(
            plugins: [Moya.NetworkLoggerPlugin()],
            targetKitPlugins: [RetryPlugin()]
        )
        let api = Provider<TeaAPI>(plugins: [LegacyPlugin(Moya.NetworkLoggerPlugin()), RetryPlugin()])
        let ann = try await api.request(.member(name: "ann"), as: Member.self)
        let tea = Provider<TeaAPI>(plugins: [RetryPlugin()])
        let bob = try await tea.request(.member(name: "bob"), as: Member.self)
        provider.request(.today) { result in
            print((try? result.get().mapString()) ?? "")
        }
        patient.request(.today) { _ in print(ann, bob) }
    }

    @Test("Step 1: the old interface")
    func step1() {
        let provider = MoyaProvider<Tea>(stubClosure: MoyaProvider.immediatelyStub)
        provider.request(.member(name: "ann")) { result in
            print((try? result.get().map(Member.self).name) ?? "")
        }
    }

    @Test("Steps 2 and 3: awaited calls, and plugins of TargetKit")
    func step2() async throws {
        let provider = MoyaProvider<Tea>(
            stubClosure: MoyaProvider.immediatelyStub,
            plugins: [Moya.NetworkLoggerPlugin()],
            targetKitPlugins: [RetryPlugin()]
        )
        let member = try await provider.targetKit.request(LegacyTarget(.member(name: "ann")), as: Member.self)
        #expect(member.name == "Ann")
    }

    @Test("Steps 4 to 6: a target of TargetKit, with old plugins and without", arguments: [true, false])
    func step4(hasOldPlugin: Bool) async throws {
        let log = Log()
        let old = RecordingPlugin(log: log)
        let api = Provider<TeaAPI>(
            stubClosure: { _ in .immediate },
            plugins: hasOldPlugin ? [LegacyPlugin(old), RetryPlugin()] : [RetryPlugin()]
        )
        #expect(try await api.request(.member(name: "ann"), as: Member.self).name == "Ann")
        #expect(log.lines.count == (hasOldPlugin ? 4 : 0))
    }
}
