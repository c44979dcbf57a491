// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

/// The lines of a stream, against a loop over its bytes that does no more than it must: in MB/s.
struct LineFigures {
    private static let pieceCount = 512
    private let rows: [(name: String, piece: Data)]

    init() {
        rows = [40, 120, 1_000].map { length in
            let line = String(repeating: "x", count: length - 1) + "\n"
            // Pieces of what a socket brings, which no line ends with.
            let piece = Data(String(repeating: line, count: 1 + 16_384 / length).utf8.prefix(16_384))
            return ("lines of \(length) bytes", piece)
        }
    }

    func add(to table: Table) async throws {
        for row in rows {
            let piece = row.piece
            let race = try await Race(
                rounds: 10,
                [
                    {
                        var bytes = 0
                        for try await line in stream(of: piece).lines() { bytes += line.utf8.count }
                        keep(bytes)
                    }, { keep(try await byteLoop(over: stream(of: piece))) },
                ]
            )
            let megabytes = Double(piece.count * Self.pieceCount) / 1e6
            let speeds = race.best.map { "\(Int(megabytes / $0)) MB/s" }
            table.add("\(row.name), by a byte loop", speeds[0], speeds[1], rounds: race.rateRatios())
        }
    }

    private func stream(of piece: Data) -> ResponseStream {
        let counter = PieceCounter(Self.pieceCount)
        return ResponseStream(statusCode: 200, body: ResponseBody { await counter.take() ? piece : nil })
    }

    private func byteLoop(over stream: ResponseStream) async throws -> Int {
        var line: [UInt8] = []
        var bytes = 0
        for try await piece in stream {
            piece.withUnsafeBytes { piece in
                for byte in piece {
                    if byte == UInt8(ascii: "\n") {
                        bytes += String(decoding: line, as: UTF8.self).utf8.count
                        line.removeAll(keepingCapacity: true)
                    } else {
                        line.append(byte)
                    }
                }
            }
        }
        return bytes
    }
}

private actor PieceCounter {
    private var left: Int

    init(_ count: Int) {
        left = count
    }

    func take() -> Bool {
        left -= 1
        return left >= 0
    }
}
