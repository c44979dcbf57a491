// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitTesting
import TestSupport
import Testing

/// Closures of calls as a view model writes them: they touch the state of the main actor.
@MainActor
@Suite("Closures on the main actor", .throttled, .timeLimit(.minutes(3)))
struct MainActorClosureTests {
    struct Tea: Decodable, Sendable { var name: String }

    @MainActor
    final class Screen {
        var statusCodes: [Int] = []
        var names: [String] = []
        var stages: [TargetKitError.Stage] = []
        var fractions: [Double] = []
    }

    let screen = Screen()
    let provider = Provider<TestTarget>(stubClosure: { _ in .immediate })

    @Test("The completion of a call for a response, and its progress before")
    func response() async {
        await withCheckedContinuation { done in
            provider.request(TestTarget(.example)) { step in
                screen.fractions.append(step.fraction ?? -1)
                #expect(screen.statusCodes.isEmpty)
            } completion: { result in
                if case .success(let response) = result { screen.statusCodes.append(response.statusCode) }
                done.resume()
            }
        }
        #expect(screen.statusCodes == [200])
        #expect(screen.fractions == [1])
    }

    @Test("The completion of a call for a value, and its progress before")
    func value() async {
        await withCheckedContinuation { done in
            provider.request(TestTarget(.example), as: Tea.self) { step in
                screen.fractions.append(step.fraction ?? -1)
            } completion: { result in
                if case .success(let tea) = result { screen.names.append(tea.name) }
                done.resume()
            }
        }
        #expect(screen.names == ["tea"])
        #expect(screen.fractions == [1])
    }

    @Test("The completion of a call that fails, also before anything is sent")
    func failure() async {
        for target in [
            TestTarget(.example).with { $0.path = "/a/../b" },
            TestTarget(.example).with { $0.validation = .codes([1]) },
        ] {
            await withCheckedContinuation { done in
                provider.request(target) { result in
                    if case .failure(let error) = result { screen.stages.append(error.stage) }
                    done.resume()
                }
            }
        }
        #expect(screen.stages == [.endpoint, .status])
    }

    @Test("A call from another thread calls its closures on the main actor too")
    func otherThread() async {
        await withCheckedContinuation { done in
            DispatchQueue.global().async { [provider, screen] in
                provider.request(TestTarget(.example)) { _ in
                    screen.statusCodes.append(1)
                    done.resume()
                }
            }
        }
        #expect(screen.statusCodes == [1])
    }

    @Test("Closures on a queue are called there, for a response and for a value")
    func queue() async {
        let queue = DispatchQueue(label: "closures")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let isOnQueue = Recorder<Bool>()
        @Sendable func note() { isOnQueue.append(DispatchQueue.getSpecific(key: key) == true) }
        provider.request(TestTarget(.example), on: queue, progress: { _ in note() }, completion: { _ in note() })
        await isOnQueue.waitForCount(2)
        provider.request(
            TestTarget(.example),
            as: Tea.self,
            on: queue,
            progress: { _ in note() },
            completion: { _ in note() }
        )
        #expect(await isOnQueue.waitForCount(4) == [true, true, true, true])
    }
}
