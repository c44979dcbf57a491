// SPDX-License-Identifier: MIT

extension Endpoint {
    /// Returns the request of this endpoint, with its query, its header fields, and a body that is in memory.
    ///
    /// The `URLRequest` doesn't contain a body from a file or from a form with files. The provider passes such a body
    /// to the transport, which reads it while sending.
    ///
    /// - Throws: ``TargetKitError`` with stage `.request`. Its `underlying` error has the reason, for example a value
    ///   that can't be encoded, a GET with a body, or a method or header field that RFC 9110 doesn't allow.
    public func urlRequest() throws(TargetKitError) -> URLRequest {
        do {
            return try makeRequest()
        } catch {
            throw TargetKitError(stage: .request, underlying: error)
        }
    }

    private func makeRequest() throws -> URLRequest {
        guard !task.hasTwoBodies else { throw InvalidRequest.twoBodies }
        guard !task.hasTwoDrivers else { throw InvalidRequest.twoDrivers }
        let (query, parameters) = try task.query(for: method)
        let url = try address.url(escapedQuery: query)
        var request = URLRequest(url: url)
        if method != .get { request.httpMethod = method.rawValue }
        let body = try task.content.encoded()
        // Setters of `URLRequest` are slow even if nothing changes.
        if let data = body.data { request.httpBody = data }
        var fields = headers.dictionary
        if let type = body.contentType, !headers.contains(.contentType) { fields["Content-Type"] = type }
        if !fields.isEmpty { request.allHTTPHeaderFields = fields }
        if let timeout { request.timeoutInterval = try timeout.positiveSeconds }
        guard !parameters.isEmpty else {
            try RequestCheck.check(url, method: method, fields: fields, hasBody: task.content.isBody)
            return request
        }
        try add(parameters, to: &request)
        // A parameter encoding may have changed the method.
        try RequestCheck.check(request, hasBody: task.content.isBody || request.httpBody != nil)
        return request
    }

    /// Applies the encodings of the parameters. Together with the task's content, they may set only one body.
    private func add(_ parameters: [HTTPTask.EncodedParameters], to request: inout URLRequest) throws {
        for parameters in parameters {
            let kept = request.httpBody
            request.httpBody = nil
            request = try parameters.encoding.encode(parameters.values, into: request)
            if task.content.isBody || kept != nil {
                guard request.httpBody == nil else { throw InvalidRequest.twoBodies }
                request.httpBody = kept
            }
        }
    }

    /// Returns the body for the transport: the request's bytes or the task's content.
    func body(of request: URLRequest) throws -> TransportRequest.Body {
        if let data = request.httpBody { return .data(data) }
        switch task.content {
        case .file(let url): return .file(url)
        case .multipart(let form) where !form.isInMemory: return .stream(try form.bodySource())
        case .none, .data, .encoded, .multipart: return .none
        }
    }
}

extension HTTPTask {
    /// Returns the query string, and the parameters that aren't part of it.
    fileprivate func query(for method: HTTPMethod) throws -> (text: String, rest: [EncodedParameters]) {
        var text = ""
        for query in queries { text.appendQuery(try query()) }
        var rest: [EncodedParameters] = []
        for parameters in parameters {
            if let encoding = parameters.encoding as? URLEncoding, encoding.encodesIntoQuery(method: method.rawValue) {
                text.appendQuery(try encoding.queryString(parameters.values))
            } else {
                rest.append(parameters)
            }
        }
        return (text, rest)
    }
}

extension RequestContent {
    fileprivate var isBody: Bool {
        if case .none = self { false } else { true }
    }

    fileprivate func encoded() throws -> (data: Data?, contentType: String?) {
        switch self {
        case .none: (nil, nil)
        case .data(let data, let contentType): (data, contentType)
        case .encoded(let contentType, let encode): (try encode(), contentType)
        case .multipart(let form): (form.isInMemory ? try form.data() : nil, form.contentType)
        case .file(let url): (nil, try url.mediaTypeOfReadableFile)
        }
    }
}

extension String {
    fileprivate mutating func appendQuery(_ query: String) {
        guard !query.isEmpty else { return }
        if !isEmpty { self += "&" }
        self += query
    }
}

extension URL {
    fileprivate var mediaTypeOfReadableFile: String {
        get throws(InvalidRequest) {
            guard (try? FileBodySource(self)) != nil else {
                throw .unreadableFile(path: isFileURL ? path : absoluteString)
            }
            return MIMEType.forFile(named: path)
        }
    }
}

extension Duration {
    fileprivate var positiveSeconds: TimeInterval {
        get throws(InvalidRequest) {
            guard self > .zero else { throw .invalidTimeout(self) }
            return self / .seconds(1)
        }
    }
}
