// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitPlugins
import TargetKitTesting
import TestSupport
import Testing

@Suite("Credential stores: waiting for another process", .throttled, .timeLimit(.minutes(2)))
struct RefreshLockTests {
    @Test(
        "A refresh waits as long as that of a process that runs takes, but not for a suspended one",
        arguments: [true, false]
    )
    func patience(_ isRunning: Bool) async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "session.json")
        let (otherClock, clock) = (ManualClock(), ManualClock())
        let (began, gate, entered) = (Expectation(), Gate(), Tally())
        let other = Task {
            try await FileCredentialStore<Token>(file, clock: otherClock).withRefreshLock {
                began.fulfill()
                await gate.wait()
            }
        }
        await began.wait()
        try await otherClock.waitForSleepers()
        let refresh = Task {
            try await FileCredentialStore<Token>(file, clock: clock).withRefreshLock { entered.add() }
        }
        try await clock.waitForSleepers()
        for _ in 0..<(isRunning ? 40 : 9) {
            if isRunning {
                otherClock.advance(by: .seconds(2))
                try await otherClock.waitForSleepers()
            }
            clock.advance(by: .seconds(1))
            try await clock.waitForSleepers()
        }
        #expect(entered.value == 0)
        if isRunning {
            gate.open()
            try await other.value
        }
        clock.advance(by: .seconds(1))
        try await refresh.value
        #expect(entered.value == 1)
        gate.open()
        try await other.value
    }

    @Test("A process that runs is waited for a minute at most")
    func limit() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "session.json")
        let (otherClock, clock) = (ManualClock(), ManualClock())
        let (began, gate) = (Expectation(), Gate())
        let other = Task {
            try await FileCredentialStore<Token>(file, clock: otherClock).withRefreshLock {
                began.fulfill()
                await gate.wait()
            }
        }
        await began.wait()
        try await otherClock.waitForSleepers()
        let refresh = Task {
            try await FileCredentialStore<Token>(file, clock: clock).withRefreshLock { gate.isOpen }
        }
        try await clock.waitForSleepers()
        for second in 1...60 {
            otherClock.advance(by: .seconds(2))
            try await otherClock.waitForSleepers()
            clock.advance(by: .seconds(1))
            if second < 60 { try await clock.waitForSleepers() }
        }
        #expect(try await refresh.value == false)
        gate.open()
        try await other.value
    }
}
