// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitMoya
import TargetKitPlugins
import TestSupport
import Testing

struct Member: Decodable, Sendable {
    var name: String
}

@Suite("Pages of TargetKitMoya", .throttled)
struct PageTests {
    @Test(
        "Every line of Swift on a page is a line of a file in this folder",
        arguments: DocumentationPage.pages(in: "Sources/MoyaCompatibility/TargetKitMoya.docc")
            // Its packages are not dependencies: it is only compiled, with declarations in their place.
            .filter { $0.description != "ReactiveExtensions.md" }
    )
    func everySnippetIsHere(page: DocumentationPage) throws {
        let known = try DocumentationPage.lines(at: "Tests/MoyaTests/Documentation")
        for line in try page.lines() {
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
        let api = Provider<TeaAPI>(
            plugins: [DefaultHeadersPlugin(), CookiePlugin(), LegacyPlugin(Moya.NetworkLoggerPlugin()), RetryPlugin()]
        )
        let ann = try await api.request(.member(name: "ann"), as: Member.self)
        let tea = Provider<TeaAPI>(plugins: [DefaultHeadersPlugin(), CookiePlugin(), RetryPlugin()])
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
