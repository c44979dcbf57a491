// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// The current values of the options that vary between exchanges.
struct CurlOptions {
    /// The way in which the request's body is passed to libcurl.
    enum Mode {
        /// No body.
        case get
        /// No body in the request or in the response.
        case head
        /// The bytes are set in advance, and sent together with the head.
        case post
        /// libcurl reads the bytes with a callback.
        case upload
    }

    var mode = Mode.get
    var method: String?
    var isSecure: Bool?
    var waitsToShare: Bool?
    var isRepeatable: Bool?
    var repeatsOnNewConnection = false
    var fields: [CurlField] = []
    var headerList: UnsafeMutablePointer<curl_slist>?
    /// Whether the list prevents libcurl from adding fields to a request with a body.
    var listIsForBody = false
    /// Whether the exchange ends at the head. After HEAD with a body, libcurl would wait for a response body.
    var endsAtHead = false
    /// Whether the request waits for `100 Continue` (RFC 9110 §10.1.1).
    var expects = false
    /// The total size of the fields' names and values, in bytes.
    var fieldSize = 0
    /// Whether the request may use an HTTP/2 connection.
    var canShare: Bool?
    /// Whether the end of the stream, instead of its length, ends the response's body.
    var ignoresLength = false
    /// Whether the connection is closed after the exchange.
    var forbidsReuse = false
    var hasProgress = false
    /// Whether libcurl's log is read.
    var readsLog = false
    /// The size of libcurl's buffer for received bytes.
    var bufferSize = Self.smallBuffer

    /// The size of libcurl's buffer for bytes to send.
    var uploadBufferSize = Self.smallUploadBuffer

    /// libcurl's own default.
    static let smallUploadBuffer = 64 << 10
    /// For a larger body, to reduce the number of writes.
    static let largeUploadBuffer = 512 << 10
    /// libcurl's own default.
    static let smallBuffer = 16 << 10
    /// For a body that isn't collected in memory, to reduce the number of reads.
    static let largeBuffer = 256 << 10

    var isTrustBlind = false
    var pin: String?
}

extension CurlTransfer {
    /// The maximum size of a body that is copied to libcurl and sent together with the head.
    private static let copyLimit = 16 << 10

    /// Sets the options that differ from the previous call.
    func prepare(_ call: CurlCall) throws {
        prepareBody(call)
        try prepareHeaders(call)
        restoreDefaults()
        if call.address.isSecure, settings.trustDependsOnHost { prepareTrust(call) }
        if options.hasProgress != (call.progress != nil) {
            options.hasProgress = call.progress != nil
            set(CURLOPT_NOPROGRESS, value: options.hasProgress ? 0 : 1)
        }
        let bufferSize = Self.bufferSize(for: call.destination)
        if options.bufferSize != bufferSize {
            options.bufferSize = bufferSize
            set(CURLOPT_BUFFERSIZE, value: bufferSize)
        }
        ccurl_setopt_string(easy, CURLOPT_URL, call.address.text)
    }

    /// A paused stream retains the bytes that libcurl read, so the buffer isn't larger than the caller's buffer.
    private static func bufferSize(for destination: TransportRequest.Destination) -> Int {
        switch destination {
        case .memory, .upgrade: CurlOptions.smallBuffer
        case .file: CurlOptions.largeBuffer
        case .stream(let buffer): min(max(buffer, CurlOptions.smallBuffer), CurlOptions.largeBuffer)
        }
    }

    private func prepareBody(_ call: CurlCall) {
        switch call.body {
        case .none:
            // Without a body, a method that defines a meaning for it sends a length of 0 (RFC 9110 §8.6).
            let saysLength = call.method == "POST" || call.method == "PUT" || call.method == "PATCH"
            setMode(saysLength ? .post : call.method == "HEAD" ? .head : .get, method: call.method)
            if saysLength { setPost(Data()) }
        case .data(let data) where data.count <= Self.copyLimit:
            setMode(.post, method: call.method)
            setPost(data)
        case .data(let data):
            setUpload(CurlUpload(data), method: call.method)
        case .source(let source):
            let wakeLoop = { @Sendable [commandQueue] in commandQueue.post(.resume(call)) }
            setUpload(CurlUpload(prefetched: source, wakeLoop: wakeLoop), method: call.method)
        }
    }

    private func setMode(_ mode: CurlOptions.Mode, method: String) {
        if mode != options.mode {
            // Set first, because it makes the request a POST.
            if options.mode == .post { ccurl_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, nil) }
            options.mode = mode
            // This resets the other modes.
            set(CURLOPT_HTTPGET, value: 1)
            switch mode {
            case .get: break
            case .head: set(CURLOPT_NOBODY, value: 1)
            case .post: set(CURLOPT_POST, value: 1)
            case .upload: set(CURLOPT_UPLOAD, value: 1)
            }
            options.method = nil
            ccurl_setopt_string(easy, CURLOPT_CUSTOMREQUEST, nil)
            // The header list depends on the mode.
            dropHeaders()
        }
        options.endsAtHead = method == "HEAD" && mode != .head
        if options.method != method {
            options.method = method
            ccurl_setopt_string(easy, CURLOPT_CUSTOMREQUEST, method)
        }
    }

    private func setPost(_ data: Data) {
        ccurl_setopt_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count))
        if data.isEmpty {
            ccurl_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, "")
        } else {
            data.withUnsafeBytes { bytes in
                _ = ccurl_setopt_string(
                    easy,
                    CURLOPT_COPYPOSTFIELDS,
                    bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                )
            }
        }
    }

    private func setUpload(_ upload: CurlUpload, method: String) {
        setMode(.upload, method: method)
        ccurl_setopt_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload.length ?? -1))
        let isSmall = upload.length.map { $0 <= CurlOptions.smallUploadBuffer } ?? false
        let bufferSize = isSmall ? CurlOptions.smallUploadBuffer : CurlOptions.largeUploadBuffer
        if options.uploadBufferSize != bufferSize {
            options.uploadBufferSize = bufferSize
            set(CURLOPT_UPLOAD_BUFFERSIZE, value: bufferSize)
        }
        self.upload = upload
    }

    private func dropHeaders() {
        ccurl_setopt_list(easy, CURLOPT_HTTPHEADER, nil)
        curl_slist_free_all(options.headerList)
        options.headerList = nil
        options.fields = []
    }

    private func prepareHeaders(_ call: CurlCall) throws {
        let hasBody = options.mode == .post || options.mode == .upload
        // The list of the previous exchange has equal fields.
        if options.headerList != nil, options.fields == call.fields, options.listIsForBody || !hasBody { return }
        dropHeaders()
        var list = CurlHeaderList()
        for field in call.fields { try list.add(field.name, value: field.value) }
        // libcurl's own options for these two fields are formatted twice for each request.
        try list.add("User-Agent", value: CurlLibrary.userAgent, unlessIn: call.fields)
        // A range selects from the sent bytes, which are the encoded bytes if there is an encoding (RFC 9110 §14.2).
        let encodings = call.hasField("Range") ? "identity" : ContentCoding.accepted
        try list.add("Accept-Encoding", value: encodings, unlessIn: call.fields)
        options.expects = call.hasField("Expect")
        options.fieldSize = call.fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        if hasBody { list.suppressDefaults(unless: call.fields) }
        options.headerList = list.release()
        options.listIsForBody = hasBody
        options.fields = call.fields
        ccurl_setopt_list(easy, CURLOPT_HTTPHEADER, options.headerList)
    }

    /// Closes the connection after this exchange.
    func forbidReuse() {
        options.forbidsReuse = true
        set(CURLOPT_FORBID_REUSE, value: 1)
    }

    /// Resets the options that the previous exchange changed while it ran.
    private func restoreDefaults() {
        if options.ignoresLength {
            options.ignoresLength = false
            set(CURLOPT_IGNORE_CONTENT_LENGTH, value: 0)
        }
        if options.forbidsReuse {
            options.forbidsReuse = false
            set(CURLOPT_FORBID_REUSE, value: 0)
        }
    }

    func set(_ option: CURLoption, value: Int) {
        ccurl_setopt_long(easy, option, value)
    }
}

/// The header fields of a request, in libcurl's format.
struct CurlHeaderList: ~Copyable {
    private var list: UnsafeMutablePointer<curl_slist>?

    deinit {
        curl_slist_free_all(list)
    }

    /// Returns the list. The caller must free it.
    consuming func release() -> UnsafeMutablePointer<curl_slist>? {
        let released = list
        list = nil
        return released
    }

    /// Adds `Name: value`.
    ///
    /// - Throws: An error if the name or value contains a line break or a NUL, which would start another field.
    mutating func add(_ name: String, value: String) throws(CurlFailure) {
        guard !name.isEmpty, !name.endsHeaderField, !value.endsHeaderField else {
            throw .lineBreak(in: name)
        }
        // For libcurl, `Name:` removes the field, and `Name;` is a field without a value.
        append(value.isEmpty ? name + ";" : name + ": " + value)
    }

    /// Adds `Name: value`, unless the caller set a field with that name.
    mutating func add(_ name: String, value: String, unlessIn fields: [CurlField]) throws(CurlFailure) {
        if !fields.contains(where: { $0.name.equalsIgnoringASCIICase(name) }) { try add(name, value: value) }
    }

    /// Removes the fields that libcurl adds to a request with a body: `Expect` and `Content-Type`.
    mutating func suppressDefaults(unless fields: [CurlField]) {
        append("Expect:")
        if !fields.contains(where: { $0.name.equalsIgnoringASCIICase("Content-Type") }) { append("Content-Type:") }
    }

    private mutating func append(_ line: String) {
        // Fails only if the system is out of memory; the list is then unchanged.
        guard FieldOctets.hasMarks(line) else { return list = curl_slist_append(list, line) ?? list }
        let octets = FieldOctets.octets(line).map { CChar(bitPattern: $0) } + [0]
        list = curl_slist_append(list, octets) ?? list
    }
}
#endif
