// SPDX-License-Identifier: MIT
#if os(Linux)
import CTargetKitCurl

/// What the options of a handle depend on, and what they mean for the exchange.
struct CurlOptions {
    /// libcurl's own default.
    static let smallUploadBuffer = 64 << 10
    /// For a larger body, to reduce the number of writes.
    static let largeUploadBuffer = 512 << 10
    /// libcurl's own default.
    static let smallBuffer = 16 << 10
    /// For a body that isn't collected in memory, to reduce the number of reads.
    static let largeBuffer = 256 << 10

    var isSecure = false
    var isRepeatable = true
    /// Whether the exchange ends at the head. After HEAD with a body, libcurl would wait for a response body.
    var endsAtHead = false
    /// Whether the request may use an HTTP/2 connection.
    var canShare = false
    /// Whether the end of the stream, instead of its length, ends the response's body.
    var ignoresLength = false
    /// Whether the connection is closed after the exchange.
    var forbidsReuse = false
    /// Whether libcurl's log is read.
    var readsLog = false
    var isTrustBlind = false
}

extension CurlTransfer {
    /// The maximum size of a body that is copied to libcurl and sent together with the head.
    private static let copyLimit = 16 << 10

    /// Sets the options that differ between calls.
    func prepare(_ call: CurlCall) throws {
        options = CurlOptions()
        options.isSecure = call.address.isSecure
        options.endsAtHead = call.method == "HEAD" && call.hasBody
        prepareBody(call)
        try prepareHeaders(call)
        set(CURLOPT_IGNORE_CONTENT_LENGTH, value: 0)
        set(CURLOPT_FORBID_REUSE, value: 0)
        if call.address.isSecure, settings.trustDependsOnHost { prepareTrust(call) }
        set(CURLOPT_NOPROGRESS, value: call.progress == nil ? 1 : 0)
        set(CURLOPT_BUFFERSIZE, value: Self.bufferSize(for: call.destination))
        ccurl_setopt_string(easy, CURLOPT_URL, call.address.text)
        prepareHost(call)
    }

    /// Sets the addresses that the transport's resolver returned for the call's host.
    func prepareHost(_ call: CurlCall) {
        guard settings.configuration.lookup != nil else { return }
        var entries = CurlList()
        for entry in call.hostEntries { entries.append(entry) }
        ccurl_setopt_list(easy, CURLOPT_RESOLVE, entries.head)
        hostEntries = entries
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
        // First, because it makes the request a POST.
        ccurl_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, nil)
        // This resets the options of the other kinds of bodies.
        set(CURLOPT_HTTPGET, value: 1)
        ccurl_setopt_string(easy, CURLOPT_CUSTOMREQUEST, call.method)
        if let source = call.source {
            send(CurlUpload(prefetched: source) { [commandQueue] in commandQueue.post(.resume(call)) })
        } else if let data = call.data ?? (call.sendsLength ? Data() : nil) {
            if data.count <= Self.copyLimit { post(data) } else { send(CurlUpload(data)) }
        } else {
            set(CURLOPT_NOBODY, value: call.method == "HEAD" ? 1 : 0)
        }
    }

    /// Sets bytes that are sent together with the head.
    private func post(_ data: Data) {
        set(CURLOPT_POST, value: 1)
        ccurl_setopt_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count))
        // Without an address, libcurl would call back for the bytes.
        (data.isEmpty ? Data([0]) : data).withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            _ = ccurl_setopt_string(easy, CURLOPT_COPYPOSTFIELDS, start)
        }
    }

    /// Sets a body that libcurl reads with a callback.
    private func send(_ upload: CurlUpload) {
        set(CURLOPT_UPLOAD, value: 1)
        ccurl_setopt_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(upload.length ?? -1))
        let isSmall = upload.length.map { $0 <= CurlOptions.smallUploadBuffer } ?? false
        let bufferSize = isSmall ? CurlOptions.smallUploadBuffer : CurlOptions.largeUploadBuffer
        set(CURLOPT_UPLOAD_BUFFERSIZE, value: bufferSize)
        self.upload = upload
    }

    private func prepareHeaders(_ call: CurlCall) throws(TransportFailure) {
        let sendsBody = call.hasBody || call.sendsLength
        // Most lists are equal, and making one takes 4 % of a call (`Benchmarks`, `counts "one at a time"`).
        if headers.lines.head != nil, headers.isForBody == sendsBody, headers.isMade(of: call.fields) { return }
        var headers = CurlHeaderList(fields: call.fields, isForBody: sendsBody)
        for field in call.fields { try headers.add(field) }
        // libcurl's own options for these two fields are formatted twice for each request.
        if !call.hasField("User-Agent") { headers.lines.append("User-Agent: " + CurlLibrary.userAgent) }
        // A range selects from the sent bytes, which are the encoded bytes if there is an encoding (RFC 9110 §14.2).
        let encodings = call.hasField("Range") ? "identity" : ContentCoding.accepted
        if !call.hasField("Accept-Encoding") { headers.lines.append("Accept-Encoding: " + encodings) }
        if sendsBody {
            // Removes the fields that libcurl adds.
            headers.lines.append("Expect:")
            if !call.hasField("Content-Type") { headers.lines.append("Content-Type:") }
        }
        ccurl_setopt_list(easy, CURLOPT_HTTPHEADER, headers.lines.head)
        self.headers = headers
    }

    /// Closes the connection after this exchange.
    func forbidReuse() {
        options.forbidsReuse = true
        set(CURLOPT_FORBID_REUSE, value: 1)
    }

    func set(_ option: CURLoption, value: Int) {
        ccurl_setopt_long(easy, option, value)
    }
}

/// The header fields of a request, in libcurl's format.
struct CurlHeaderList: ~Copyable {
    /// The fields that the caller set.
    let fields: [CurlField]
    /// Whether libcurl adds no fields to a request with a body.
    let isForBody: Bool
    var lines = CurlList()

    init(fields: [CurlField] = [], isForBody: Bool = false) {
        self.fields = fields
        self.isForBody = isForBody
    }

    /// Whether the list is that of the fields, byte for byte. Equal strings can have different bytes, if one of them has
    /// a composed character.
    func isMade(of fields: [CurlField]) -> Bool {
        self.fields.count == fields.count
            && zip(self.fields, fields).allSatisfy { $0.name.hasBytes(of: $1.name) && $0.value.hasBytes(of: $1.value) }
    }

    /// Adds a field.
    ///
    /// - Throws: An error if the name or value contains a line break or a NUL, which would start another field.
    mutating func add(_ field: CurlField) throws(TransportFailure) {
        let (name, value) = try field.checked()
        // For libcurl, `Name:` removes the field, and `Name;` is a field without a value.
        lines.append(value.isEmpty ? name + ";" : name + ": " + value)
    }
}

/// A list of lines for libcurl, which doesn't copy it.
struct CurlList: ~Copyable {
    private(set) var head: UnsafeMutablePointer<curl_slist>?

    init() {}

    deinit {
        curl_slist_free_all(head)
    }

    mutating func append(_ line: String) {
        // Fails only if the system is out of memory; the list is then unchanged.
        guard FieldOctets.hasMarks(line) else { return head = curl_slist_append(head, line) ?? head }
        let octets = FieldOctets.octets(line).map { CChar(bitPattern: $0) } + [0]
        head = curl_slist_append(head, octets) ?? head
    }
}
#endif
