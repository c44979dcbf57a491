// SPDX-License-Identifier: MIT

extension Response {
    /// This response if its status code is among those.
    ///
    /// - Throws: ``TargetKitError`` of stage `.status`, which holds the response.
    public func filter(status codes: some Sequence<Int>) throws(TargetKitError) -> Response {
        try filter(StatusValidation.codes(codes))
    }

    /// This response if its status code is in that range.
    ///
    /// - Throws: ``TargetKitError`` of stage `.status`, which holds the response.
    public func filter(status range: ClosedRange<Int>) throws(TargetKitError) -> Response {
        guard range.contains(statusCode) else { throw statusError }
        return self
    }

    /// This response if its status code is that one.
    ///
    /// - Throws: ``TargetKitError`` of stage `.status`, which holds the response.
    public func filter(status code: Int) throws(TargetKitError) -> Response {
        try filter(status: code...code)
    }

    /// This response if its status code is 200 to 299.
    ///
    /// - Throws: ``TargetKitError`` of stage `.status`, which holds the response.
    public func filterSuccessful() throws(TargetKitError) -> Response {
        try filter(.successCodes)
    }

    /// This response if its status code is 200 to 399.
    ///
    /// - Throws: ``TargetKitError`` of stage `.status`, which holds the response.
    public func filterSuccessfulAndRedirects() throws(TargetKitError) -> Response {
        try filter(.successAndRedirectCodes)
    }

    func filter(_ validation: StatusValidation) throws(TargetKitError) -> Response {
        guard validation.accepts(statusCode) else { throw statusError }
        return self
    }

    /// Without a body that has yet to come: whoever keeps the error is not to keep the connection.
    private var statusError: TargetKitError {
        TargetKitError(stage: .status, target: target, request: request, response: head)
    }
}
