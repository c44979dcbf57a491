// SPDX-License-Identifier: MIT

// Swift 6.0's Testing has no scopes.
#if canImport(Testing) && compiler(>=6.1)
import Foundation
import TargetKitTesting
import Testing

/// A trait that gives a test its own `CassetteTransport`, which is `CassetteTransport.current`.
///
/// Create it with `.replays(_:)`.
public struct CassetteTrait: SuiteTrait, TestTrait, TestScoping {
    fileprivate let cassette: NamedCassette
    /// Creates a transport for the cassette.
    fileprivate let transport: @Sendable (NamedCassette.Place) -> CassetteTransport

    /// `true`: the trait of a suite applies to each of its tests.
    public var isRecursive: Bool { true }

    /// Provides a scope for each case of a test, because each case has its own cassette.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
        test.isSuite || testCase == nil ? nil : self
    }

    /// Runs a test with its cassette.
    ///
    /// - Throws: An error of the test, or an error that lists the searched locations if there is no cassette.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        let mode = ProcessInfo.processInfo.environment[NamedCassette.variable]
        let transport = transport(try cassette.place(mode: mode))
        try await CassetteTransport.$ofTest.withValue(transport) { try await function() }
    }
}

extension Trait where Self == CassetteTrait {
    /// Replays recorded calls in a test, or in each test of a suite.
    ///
    /// ```swift
    /// @Test(.replays("teas"))
    /// func latest() async throws {
    ///     let provider = Provider<Tea>(transport: CassetteTransport.current)
    ///     let tea = try await provider.request(.latest, as: TeaModel.self)
    ///     #expect(tea.name == "Sencha")
    /// }
    /// ```
    ///
    /// The cassette is a folder `teas` with entries, or an HTTP Archive `teas.har`. It is searched like a `Fixture`: in
    /// the source file's folder, and in a folder `Fixtures` of it or one of its parent folders, up to the folder of the
    /// package or project. A folder has precedence over an archive.
    ///
    /// The environment variable `TARGETKIT_CASSETTES` selects the mode: `record` sends all calls and records them, `auto`
    /// records missing ones, and `replay` is the default. A cassette that doesn't exist is recorded in the folder
    /// `Fixtures` beside the source file. An archive is only replayed: `record` makes a folder, which then has precedence.
    ///
    /// - Parameters:
    ///   - name: The name of the folder or archive, which can have folders.
    ///   - bundle: A bundle to search as well, with `.copy("Fixtures")` in its resources, for devices that don't have the
    ///     sources; default: none.
    ///   - transport: Sends the calls to record; default: the system's transport.
    ///   - parts: The parts of a request that must match the recorded ones; default: method, URL, query and body.
    ///   - names: The query items, header fields, and fields of forms and JSON bodies that aren't compared; default: none.
    ///   - redaction: The secrets to redact; default: `Redaction()`.
    ///   - repeats: Whether further requests receive the last entry; default: no, they fail.
    ///   - source: The path of the source file; default: the file with the test.
    public static func replays(
        _ name: String,
        in bundle: Bundle? = nil,
        recording transport: any Transport = SystemTransport.shared,
        matching parts: [RequestPart] = [.method, .url, .query, .body],
        ignoring names: Set<String> = [],
        redaction: Redaction = Redaction(),
        repeats: Bool = false,
        source: String = #filePath
    ) -> Self {
        Self(cassette: NamedCassette(name, in: bundle, source: source)) { place in
            switch place {
            case .folder(let folder, let mode):
                CassetteTransport(
                    mode,
                    folder: folder,
                    recording: transport,
                    matching: parts,
                    ignoring: names,
                    redaction: redaction,
                    repeats: repeats
                )
            case .archive(let file):
                CassetteTransport(har: file, matching: parts, ignoring: names, redaction: redaction, repeats: repeats)
            }
        }
    }
}
#endif
