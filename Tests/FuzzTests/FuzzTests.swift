// SPDX-License-Identifier: MIT
import Foundation
import TestSupport
import Testing

/// Reads the inputs of `Fixtures/Files/Fuzz`, and changed ones. `Tests/fuzz` runs these tests for longer.
///
/// - `TARGETKIT_FUZZ_SECONDS`: how long each target is run; by default, each gets 100 changed inputs.
/// - `TARGETKIT_FUZZ_SEED`: another seed, for other inputs.
/// - `TARGETKIT_FUZZ_TARGET`: the name of the only target.
/// - `TARGETKIT_FUZZ_FOLDER`: where the current input of each target is, also after a crash.
@Suite("Fuzzing", .throttled, .timeLimit(.minutes(60)))
struct FuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["TARGETKIT_FUZZ_SECONDS"].flatMap(Double.init)
    private static let targets = FuzzTarget.all.filter {
        ["", $0.name].contains(environment["TARGETKIT_FUZZ_TARGET"] ?? "")
    }
    private static let seed = environment["TARGETKIT_FUZZ_SEED"].flatMap(UInt64.init) ?? 1

    @Test("No bytes from outside end the process, keep it busy for a second, or take 256 MB", arguments: targets)
    func read(_ target: FuzzTarget) async throws {
        let corpus = try target.corpus()
        try #require(!corpus.isEmpty)
        let folder = Self.environment["TARGETKIT_FUZZ_FOLDER"].map { URL(filePath: $0) }
        let run = try FuzzRun(target, folder: folder)
        for input in corpus { await run.read(input) }
        var mutator = Mutator(corpus, tokens: target.tokens, seed: Self.seed)
        let end = Date() + (Self.seconds ?? 3600)
        while Self.seconds == nil ? run.count < corpus.count + 100 : Date() < end {
            await run.read(mutator.next())
        }
        if Self.seconds != nil { print("fuzz: \(target.name): \(run.count) inputs") }
    }
}

/// One target while it is run.
private final class FuzzRun {
    private let target: FuzzTarget
    private let current: FuzzInputFile?
    private(set) var count = 0
    private var peak: Int

    init(_ target: FuzzTarget, folder: URL?) throws {
        self.target = target
        current = try folder.map { try FuzzInputFile($0.appending(path: "\(target.name).input")) }
        peak = Self.peak
    }

    private static var peak: Int {
        var usage = rusage()
        // Apple's systems count bytes, Linux kibibytes.
        #if canImport(Darwin)
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss
        #else
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return usage.ru_maxrss << 10
        #endif
    }

    private static var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

    func read(_ input: Data) async {
        count += 1
        current?.write(input)
        let start = Self.processorTime
        // A reader that never ends is ended by a signal, which leaves the file of the input behind.
        if current != nil { alarm(20) }
        try? await target.read(input)
        if current != nil { alarm(0) }
        // Other tests use the processor and the memory, too, unless the fuzzer runs alone.
        guard let current else { return }
        let time = Self.processorTime - start
        let growth = Self.peak - peak
        peak += growth
        guard time > 1 || growth > 256 << 20 else { return }
        let path = current.keep(input, count: count)
        Issue.record("\(target.name): \(time) s and \(growth >> 20) MB for the input in \(path)")
    }
}

/// The file of the input that is being read.
private final class FuzzInputFile {
    private let url: URL
    private let handle: FileHandle

    init(_ url: URL) throws {
        self.url = url
        try Data().write(to: url)
        handle = try FileHandle(forUpdating: url)
    }

    func write(_ input: Data) {
        input.withUnsafeBytes { _ = pwrite(handle.fileDescriptor, $0.baseAddress, $0.count, 0) }
        ftruncate(handle.fileDescriptor, off_t(input.count))
    }

    /// Copies an input that failed; returns the path.
    func keep(_ input: Data, count: Int) -> String {
        let copy = url.deletingPathExtension().appendingPathExtension("\(count).failed")
        try? input.write(to: copy)
        return copy.path
    }

    deinit {
        // Nothing is left of an input that was read.
        try? FileManager.default.removeItem(at: url)
    }
}
