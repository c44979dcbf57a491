// SPDX-License-Identifier: MIT
import Foundation
import Measuring
import TargetKit

/// Whether a call costs more when many others are in flight, and how soon these end when all are cancelled.
struct FlightFigures {
    private enum Echo: TargetType {
        case held
        case stubbed(Int)

        var baseURL: URL { Self.base }
        var path: RequestPath {
            switch self {
            case .held: "/held"
            case .stubbed(let number): "/stubbed/\(number)"
            }
        }

        private static let base = URL(string: "https://api.example.com") ?? URL(filePath: "/")
    }

    private static let calls = 2000

    func add(to table: Table) async throws {
        let (alone, crowded) = (provider(), provider())
        let queue = DispatchQueue(label: "calls")
        let handles = (0..<10_000).map { _ in crowded.request(.held, on: queue) { _ in } }
        let race = try await Race(rounds: 40, [{ try await call(alone) }, { try await call(crowded) }])
        let best = race.best.map { $0 / Double(Self.calls) }
        table.add(
            "stubbed call with 10,000 in flight, by none",
            timeText(best[1]),
            timeText(best[0]),
            rounds: race.ratios(1, by: 0),
            goal: .atMost(1.5)
        )
        let clock = ContinuousClock()
        let start = clock.now
        crowded.scope.cancelAll()
        let told = clock.now - start
        for handle in handles { _ = try? await handle.response() }
        let ended = clock.now - start
        table.add("cancelAll() of 10,000 calls returns, ms", "", figure: told.inSeconds * 1e3)
        table.add("all of them have ended, ms", "", figure: ended.inSeconds * 1e3, goal: .atMost(200))
    }

    private func call(_ provider: Provider<Echo>) async throws {
        for number in 0..<Self.calls { keep(try await provider.request(.stubbed(number))) }
    }

    /// Held calls wait until they are cancelled; the others are answered at once.
    private func provider() -> Provider<Echo> {
        Provider(
            stubClosure: { target in
                if case .held = target { .never } else { .immediate }
            },
            transport: StubTransport { _ in
                try await Task.sleep(for: .seconds(3600))
                return .response(status: 200, data: Data())
            }
        )
    }
}
