// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// What reads bytes from outside, and the inputs from which the mutations start.
struct FuzzTarget: Sendable, CustomTestStringConvertible {
    /// The name, which is that of the folder of inputs in `Fixtures/Files/Fuzz`.
    let name: String
    /// The beginning of the names of fixtures that are inputs, too.
    var fixtures: String?
    /// Texts that mean something to the reader.
    var tokens: [String] = []
    /// Reads the bytes. Any result and any error are fine: what must not happen is a trap, a hang, or much memory.
    let read: @Sendable (Data) async throws -> Void

    var testDescription: String { name }

    private static let files = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/Files").standardizedFileURL

    /// The inputs: each line of a `.txt` file, and any other file as a whole.
    func corpus() throws -> [Data] {
        let own = Self.files.appending(path: "Fuzz/\(name)")
        var files = try FileManager.default.contentsOfDirectory(atPath: own.path).map { own.appending(path: $0) }
        if let fixtures {
            files += try FileManager.default.contentsOfDirectory(atPath: Self.files.path)
                .filter { $0.hasPrefix(fixtures) }
                .map { Self.files.appending(path: $0) }
        }
        return try files.sorted { $0.path < $1.path }.flatMap { file in
            let data = try Data(contentsOf: file)
            return file.pathExtension == "txt" ? data.split(separator: UInt8(ascii: "\n")).map { Data($0) } : [data]
        }
    }
}

extension Data {
    /// The bytes in pieces, as a connection could deliver them: the first byte chooses their size.
    var pieces: [Data] {
        let size = [1, 3, 16, 1 << 20][Int((first ?? 0) & 3)]
        return stride(from: 0, to: count, by: size).map { Data(dropFirst($0).prefix(size)) }
    }

    /// The bytes as the text of a header field.
    var text: String { String(decoding: self, as: UTF8.self) }
}
