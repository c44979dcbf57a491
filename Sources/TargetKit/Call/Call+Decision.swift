// SPDX-License-Identifier: MIT

extension Call {
    /// Reports to the plugin that provided the response whether the call accepts it, and returns the caller's result.
    ///
    /// - Parameters:
    ///   - received: The result before the plugins' `process`.
    ///   - processed: The result after it.
    func decided(
        _ received: Result<Response, TargetKitError>,
        _ processed: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) -> Result<Response, TargetKitError> {
        guard received.anyResponse?.isUndecided == true || processed.anyResponse?.isUndecided == true else {
            return processed
        }
        // A call that is interrupted doesn't decide.
        if interruption == nil { decide(received, processed, context) }
        return processed.decided
    }

    private func decide(
        _ received: Result<Response, TargetKitError>,
        _ processed: Result<Response, TargetKitError>,
        _ context: RequestContext
    ) {
        let (first, last) = (received.anyResponse, processed.anyResponse)
        let isSame = if let first, let last { first.isDecided(with: last) } else { false }
        if let first, first.isUndecided {
            let isAccepted = processed.isSuccess && (received.isSuccess || isSame)
            first.decide(isAccepted: isAccepted && !plugins.rejectsCredential(first, context: context))
        }
        // A response that a plugin returned instead, for example a stored one.
        if let last, last.isUndecided, !isSame {
            last.decide(isAccepted: processed.isSuccess && !plugins.rejectsCredential(last, context: context))
        }
    }

    /// Whether the call would accept a response that it doesn't receive. Its value isn't decoded.
    func accepts(_ response: TransportResponse, to request: URLRequest) -> Bool {
        let (target, options) = (context.target, context.options)
        guard let response = try? Response(response, to: request, of: target, decoder: options.decoder),
            target.validation.accepts(response.statusCode)
        else { return false }
        do {
            try options.envelope.map { try response.unwrap($0) }
        } catch {
            return false
        }
        return mapped(.success(response)).isSuccess && !plugins.rejectsCredential(response, context: context)
    }
}

extension Result<Response, TargetKitError> {
    /// The response, or the response of the failure.
    var anyResponse: Response? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// This result without the plugins that wait for the decision about its response.
    fileprivate var decided: Self {
        switch self {
        case .success(let response): return .success(response.decided)
        case .failure(var error):
            guard let response = error.response, response.isUndecided else { return self }
            error.response = response.decided
            return .failure(error)
        }
    }
}
