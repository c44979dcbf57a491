// SPDX-License-Identifier: MIT

/// What the last attempt has brought, and which it was.
struct ExchangeEnding: Sendable {
    let result: Result<Response, TargetKitError>
    let attempt: Int

    /// What another call has brought, as the end of a call of that target.
    func of(_ target: any TargetType) -> ExchangeEnding {
        switch result {
        case .success(let response):
            return ExchangeEnding(result: .success(response.of(target)), attempt: attempt)
        case .failure(var error):
            error.target = target
            error.response = error.response?.of(target)
            return ExchangeEnding(result: .failure(error), attempt: attempt)
        }
    }
}
