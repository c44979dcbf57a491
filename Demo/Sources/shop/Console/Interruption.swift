// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
import ShopAPI

/// Ctrl-C and a polite kill, as something the program can answer.
///
/// The first signal calls the handler, which shuts down what runs; the program then ends by its own way. If that takes
/// longer than ``patience``, or a second signal arrives, it ends at once.
final class Interruption {
    /// How long calls in flight may continue.
    static let grace = Duration.seconds(2)
    /// How long the program may take to end by itself.
    private static let patience = DispatchTimeInterval.seconds(4)

    private let sources: [any DispatchSourceSignal]
    private let received: Guarded<Int32?>

    /// The exit status of a program that this signal ended: 130 for Ctrl-C, 143 for a kill; `nil` when there was none.
    var exitStatus: Int32? { received.value.map { 128 + $0 } }

    /// - Parameter handler: Called once, on a queue of its own.
    init(handler: @escaping @Sendable () -> Void) {
        let queue = DispatchQueue(label: "shop.signals")
        let received = Guarded<Int32?>(nil)
        self.received = received
        sources = [SIGINT, SIGTERM].map { number in
            // The source sees the signal only if its usual effect, which is to end the program, is turned off.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let isFirst = received.withLock { signal in
                    defer { signal = signal ?? number }
                    return signal == nil
                }
                guard isFirst else { exit(128 + number) }
                queue.asyncAfter(deadline: .now() + Self.patience) { exit(128 + number) }
                handler()
            }
            source.resume()
            return source
        }
    }
}
