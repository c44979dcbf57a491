// SPDX-License-Identifier: MIT

extension Provider {
    /// The events of a call: its progress, then its response. The call is made when the events are read.
    ///
    /// - Parameters:
    ///   - target: The call.
    ///   - timeout: Goes before what target and provider say.
    public func events(for target: Target, timeout: CallTimeout = .none) -> RequestEvents {
        RequestEvents { progress, completion in
            self.start(
                target,
                timeout: timeout,
                progress: progress,
                from: Self.response,
                completion: completion
            )
        }
    }
}
