// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("StubSelection", .throttled)
struct StubSelectionTests {
    private static let argument = "-TargetKitStubs"

    @Test(
        "A launch argument selects the stubs",
        arguments: [
            ("never", StubBehavior.never), ("immediate", .immediate), ("delayed=1.5", .delayed(.milliseconds(1500))),
            ("delayed=0", .delayed(.zero)), ("scenario=empty cart", .scenario("empty cart")),
            ("scenario=a=b", .scenario("a=b")),
        ]
    )
    func argument(text: String, behavior: StubBehavior) {
        #expect(StubSelection(arguments: ["app", Self.argument, text, "-x"], environment: [:]).behavior == behavior)
        #expect(StubSelection(arguments: ["app"], environment: ["TARGETKIT_STUBS": text]).behavior == behavior)
    }

    @Test("The samples that are selected answer calls", arguments: ["immediate", "delayed=0", "scenario=sale"])
    func samples(text: String) async throws {
        let selection = StubSelection(arguments: [Self.argument, text], environment: [:])
        let provider = Provider<TeaShop>(transport: selection.transport())
        let sample = TeaShop.product(id: 1).sampleData
        #expect(try await provider.request(.product(id: 1)).data == sample)
    }

    @Test("Without a selection, calls use the network")
    func none() {
        #expect(StubSelection(arguments: ["app"], environment: ["TARGETKIT_STUBS": ""]).behavior == .never)
        #expect(StubSelection(arguments: [], environment: [:]).transport() is StubTransport == false)
        #expect(StubSelection().behavior == .never)
    }

    @Test("An argument overrides the variable, and the last argument counts")
    func precedence() {
        let arguments = [Self.argument, "immediate", Self.argument, "scenario=a"]
        let selection = StubSelection(arguments: arguments, environment: ["TARGETKIT_STUBS": "never"])
        #expect(selection.behavior == .scenario("a"))
    }

    @Test(
        "Any other text is reported, and fails every call instead of reaching the network",
        arguments: [
            "imediate", "Immediate", "", " ", "=", "scenario", "scenario=", "delayed", "delayed=-1", "delayed=nan",
            "delayed=inf", "delayed=x", "immediate=1", "never=", "cassette", "cassette=",
        ]
    )
    func unknown(text: String) async throws {
        var reports: [String] = []
        let selection = StubSelection(arguments: [Self.argument, text], environment: [:]) { reports.append($0) }
        let expected = """
            The argument -TargetKitStubs has the value "\(text)", which selects no stubs.
              It must be one of: never, immediate, delayed=<seconds>, scenario=<name>, cassette=<folder>.
            """
        #expect(reports == [expected])
        #expect(selection.behavior == .never)
        let provider = Provider<TeaShop>(transport: selection.transport())
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 1)) }
        #expect(error?.description.contains("selects no stubs. It must be one of") == true)
    }

    @Test("A cassette is replayed, any number of times")
    func cassette() async throws {
        let folder = try TemporaryFolder()
        let stub = StubTransport(routes: [.get("/products/1"): .json(#"{"id":1}"#)])
        let recorder = CassetteTransport(.record, folder: folder.url, recording: stub)
        _ = try await Provider<TeaShop>(transport: recorder).request(.product(id: 1))
        let selection = StubSelection(arguments: [Self.argument, "cassette=\(folder.url.path)"], environment: [:])
        #expect(selection.behavior == .never)
        let provider = Provider<TeaShop>(transport: selection.transport(stub))
        for _ in 0..<3 {
            #expect(try await provider.request(.product(id: 1)).data == Data(#"{"id":1}"#.utf8))
        }
        await #expect(throws: TargetKitError.self) { try await provider.request(.product(id: 2)) }
    }

    @Test("A cassette that is not there is reported")
    func noCassette() {
        var reports: [String] = []
        _ = StubSelection(arguments: [Self.argument, "cassette=/none/of/this"], environment: [:]) { reports.append($0) }
        let expected = #"The argument -TargetKitStubs has the cassette "/none/of/this", which isn't a folder."#
        #expect(reports == [expected])
    }

    @Test("An argument without a value is reported")
    func noValue() {
        var reports: [String] = []
        _ = StubSelection(arguments: ["app", Self.argument], environment: [:]) { reports.append($0) }
        #expect(reports.first?.hasPrefix("No value follows the argument -TargetKitStubs.") == true)
    }
}
