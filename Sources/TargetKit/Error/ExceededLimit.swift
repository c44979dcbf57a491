// SPDX-License-Identifier: MIT

/// The limit that a timed-out call exceeded, with the option that sets it.
enum ExceededLimit: CustomStringConvertible {
    case exchange(Duration)
    case wholeCall(Duration?)
    /// A stub's delay is longer than what is left of the exchange's limit.
    case stub(delay: Duration, limit: Duration)

    var description: String {
        switch self {
        case .exchange(let limit):
            #"the request timed out: the exchange took longer than \#(limit); set \.timeout to a longer .exchange(…)"#
        case .wholeCall(let limit):
            "the request timed out: the whole call, with its retries and waits, took longer than "
                + #"\#(limit.map { "\($0)" } ?? "its limit"); set \.timeout to a longer .wholeCall(…)"#
        case .stub(let delay, let limit):
            "the request timed out: the stub's delay of \(delay) exceeds the exchange's limit of \(limit); "
                + #"shorten the delay, or set \.timeout to a longer .exchange(…)"#
        }
    }

    /// The error of a call that exceeded the limit.
    var error: URLError {
        var userInfo: [String: Any] = [FailureMark.words: description]
        if case .wholeCall = self { userInfo[FailureMark.wholeCall] = true }
        return URLError(.timedOut, userInfo: userInfo)
    }

    /// A timeout that doesn't state its limit, with this limit; any other error unchanged.
    func explaining(_ error: any Error) -> any Error {
        guard let error = error as? URLError, error.code == .timedOut, error.userInfo[FailureMark.words] == nil else {
            return error
        }
        var userInfo = error.userInfo
        userInfo[FailureMark.words] = description
        return URLError(.timedOut, userInfo: userInfo)
    }
}
