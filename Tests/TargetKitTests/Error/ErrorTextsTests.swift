// SPDX-License-Identifier: MIT
import Foundation
@testable import TargetKit
import TargetKitTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("ErrorTexts", .throttled, .timeLimit(.minutes(2)))
struct ErrorTextsTests {
    typealias Kind = TargetKitError.Kind

    /// A failure of each kind.
    static func error(_ kind: Kind) -> TargetKitError {
        switch kind {
        case .offline: transport(.notConnectedToInternet)
        case .timedOut: transport(.timedOut)
        case .cannotConnect: transport(.cannotConnectToHost)
        case .connectionLost: transport(.networkConnectionLost)
        case .insecureConnection: transport(.serverCertificateUntrusted)
        case .badRedirect: transport(.httpTooManyRedirects)
        case .tooLarge: transport(.dataLengthExceedsMaximum)
        case .cancelled: TargetKitError(stage: .cancelled)
        case .unauthorized: status(401)
        case .forbidden: status(403)
        case .notFound: status(404)
        case .conflict: status(409)
        case .rateLimited: status(429)
        case .client: status(400)
        case .server: status(500)
        case .unexpectedStatus: status(302)
        case .decoding: TargetKitError(stage: .decoding)
        case .rejected: TargetKitError(stage: .envelope)
        case .invalidRequest: TargetKitError(stage: .endpoint)
        case .unreadableFile:
            TargetKitError(stage: .request, underlying: InvalidRequest.unreadableFile(path: "/s3cret"))
        case .storageFull: transport(.cannotWriteToFile)
        case .shutDown: TargetKitError(stage: .shutDown)
        case .notCached:
            TargetKitError(
                stage: .transport,
                underlying: URLError(.resourceUnavailable, userInfo: [FailureMark.notCached: true])
            )
        case .unknown: TargetKitError(stage: .transport)
        }
    }

    private static func transport(_ code: URLError.Code) -> TargetKitError {
        TargetKitError(stage: .transport, underlying: URLError(code))
    }

    static func status(_ code: Int) -> TargetKitError {
        TargetKitError(stage: .status, response: Response(statusCode: code, data: Data("s3cret".utf8)))
    }

    private static let chinese: [ErrorTexts] = [.simplifiedChinese, .traditionalChinese]

    @Test("Each kind has a text for each piece in English and in Chinese", arguments: Kind.allCases)
    func everyKind(kind: Kind) {
        let error = Self.error(kind)
        #expect(error.kind == kind)
        for piece in ErrorTexts.Piece.allCases {
            let english = error.text(piece, in: .english)
            #expect(english.hasSuffix("."))
            #expect(english.allSatisfy { $0.isASCII })
            for texts in Self.chinese {
                let chinese = error.text(piece, in: texts)
                #expect(chinese.hasSuffix("。") == (piece != .summary))
                #expect(chinese.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) })
            }
        }
    }

    @Test(
        "The texts fit an alert and a toast",
        arguments: Kind.allCases.map(error) + [408, 410, 413, 503, 504].map(status)
    )
    func lengths(error: TargetKitError) {
        for piece in ErrorTexts.Piece.allCases {
            #expect(error.text(piece, in: .english).count <= 80)
            for texts in Self.chinese { #expect(error.text(piece, in: texts).count <= (piece == .summary ? 32 : 22)) }
        }
        for texts in Self.chinese { #expect(!error.text(.summary, in: texts).contains("。")) }
    }

    @Test(
        "The description and the suggestion are joined in one line",
        arguments: [
            (ErrorTexts.english, "The network connection was lost. Check your connection and try again."),
            (.simplifiedChinese, "网络连接已中断，请检查网络后重试"),
            (.traditionalChinese, "網路連線已中斷，請檢查網路後重試"),
            (.custom(or: .english) { _, piece in piece == .description ? "No connection" : nil }, "No connection"),
            (.custom { _, piece in ["No connection", nil, "Try again."][piece.index] }, "No connection. Try again."),
            (.custom { _, piece in ["网络开小差了。", nil, "请稍后再试。"][piece.index] }, "网络开小差了，请稍后再试"),
            (.custom { _, piece in piece == .summary ? "Offline!" : nil }, "Offline!"),
        ]
    )
    func summary(texts: ErrorTexts, text: String) {
        #expect(Self.error(.connectionLost).text(.summary, in: texts) == text)
    }

    @Test("The server's message is not joined with a suggestion")
    func serversSummary() {
        let underlying = ServerDefinedError(code: "7", message: "余额不足。")
        let error = TargetKitError(stage: .envelope, underlying: underlying)
        #expect(error.text(.summary, in: .english) == "余额不足")
        #expect(error.text(.summary, in: .simplifiedChinese) == "余额不足")
    }

    @Test(
        "A full disk is storageFull",
        arguments: [
            URLError(.cannotWriteToFile), POSIXError(.ENOSPC), POSIXError(.EDQUOT), CocoaError(.fileWriteOutOfSpace),
            NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)),
        ] as [any Error]
    )
    func fullDisk(underlying: any Error) {
        let error = TargetKitError(stage: .transport, underlying: underlying)
        #expect(error.kind == .storageFull)
        #expect(error.text(in: .english) == "There is not enough storage.")
        #expect(error.text(in: .simplifiedChinese) == "储存空间不足。")
    }

    @Test(
        "A file that is missing or not readable is unreadableFile",
        arguments: [
            InvalidRequest.unreadableFile(path: "/a"), URLError(.fileDoesNotExist), URLError(.noPermissionsToReadFile),
            URLError(.cannotOpenFile), MultipartError(reason: .file(URLError(.fileDoesNotExist), path: "/a")),
        ] as [any Error]
    )
    func missingFile(underlying: any Error) {
        let error = TargetKitError(stage: .request, underlying: underlying)
        #expect(error.kind == .unreadableFile)
        #expect(error.text(in: .english) == "The file could not be opened.")
        #expect(error.text(.recoverySuggestion, in: .simplifiedChinese) == "请选择其他文件。")
    }

    private static let simplifiedCharacters = "络连线请检设备联应响资损验证时载过围开关闭录执账数读发错误码压缩储户没处务权无"

    @Test("Traditional Chinese has no simplified characters", arguments: Kind.allCases)
    func traditional(kind: Kind) {
        for piece in ErrorTexts.Piece.allCases {
            let text = Self.error(kind).text(piece, in: .traditionalChinese)
            #expect(!text.contains { Self.simplifiedCharacters.contains($0) }, "\(text)")
        }
    }

    @Test("No two kinds say the same", arguments: [ErrorTexts.english, .simplifiedChinese, .traditionalChinese])
    func different(texts: ErrorTexts) {
        #expect(Set(Kind.allCases.map { Self.error($0).text(in: texts) }).count == Kind.allCases.count)
    }

    struct SignInNeeded: LocalizedError {
        var errorDescription: String? { "Please sign in again." }
    }

    @Test(
        "The person reads the own text of an error from a plugin, a closure or a transport",
        arguments: ["prepare", "endpoint", "request", "transport", "retry"]
    )
    func ownWords(place: String) async throws {
        let provider = Provider<TestTarget>(
            endpointClosure: { target in
                if place == "endpoint" { throw SignInNeeded() }
                return try Endpoint(target: target)
            },
            requestClosure: { endpoint in
                if place == "request" { throw SignInNeeded() }
                return try endpoint.urlRequest()
            },
            transport: StubTransport { _ in
                if place == "transport" { throw SignInNeeded() }
                return .response(status: 500, data: Data())
            },
            plugins: [
                RecordingPlugin(
                    prepare: { request, _ in
                        if place == "prepare" { throw SignInNeeded() }
                        return request
                    },
                    retry: { _, _ in .fail(TargetKitError(stage: .transport, underlying: SignInNeeded())) }
                )
            ]
        )
        let error = await #expect(throws: TargetKitError.self) { try await provider.request(TestTarget(.example)) }
        #expect(error?.localizedDescription == "Please sign in again.")
        #expect((error.map { $0 as NSError })?.localizedDescription == "Please sign in again.")
        for texts in [ErrorTexts.english, .simplifiedChinese] {
            #expect(error?.text(in: texts) == "Please sign in again.")
            for piece in ErrorTexts.Piece.allCases {
                let text = error?.text(piece, in: texts) ?? ""
                #expect(!text.isEmpty && !text.contains("Update the app") && !text.contains("更新应用"))
            }
        }
    }

    @Test("The person does not read the text of an error for the developer")
    func developersWords() {
        for underlying in [
            InvalidRequest.twoBodies, MultipartForm.notAForm,
            URLError(.badURL, userInfo: [NSLocalizedDescriptionKey: "x"]),
            JSONParsingError(.value, at: 1), UnreadableBody.eventTooLarge(limit: 1),
            CocoaError(.fileReadUnknown, userInfo: [NSLocalizedDescriptionKey: "x"]),
        ] as [any Error] {
            let error = TargetKitError(stage: .request, underlying: underlying)
            #expect(error.text(in: .english) == Self.error(.invalidRequest).text(in: .english), "\(underlying)")
        }
    }

    @Test("The device's date is mentioned for a refused certificate, not for a failed TLS handshake")
    func date() {
        let dated: [URLError.Code] = [
            .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot,
        ]
        let others: [URLError.Code] = [
            .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired,
            .appTransportSecurityRequiresSecureConnection,
        ]
        for code in dated + others {
            let error = Self.transport(code)
            #expect(error.kind == .insecureConnection)
            #expect(error.text(.recoverySuggestion, in: .english).contains("date") == dated.contains(code))
            #expect(error.text(.recoverySuggestion, in: .simplifiedChinese).contains("日期") == dated.contains(code))
        }
    }

    @Test(
        "A sentence says more where the status does",
        arguments: [
            (401, "You are not signed in, or your session has expired.", "未登录或登录已失效。"),
            (404, "This content could not be found.", "找不到此内容。"),
            (410, "This content is no longer available.", "此内容已不存在。"),
            (408, "The request timed out.", "请求超时。"),
            (413, "The content is too large to send.", "内容过大，无法发送。"),
            (500, "There was a problem with the server.", "服务器出现问题。"),
            (503, "The service is temporarily unavailable.", "服务暂时不可用。"),
            (504, "The request timed out.", "请求超时。"),
        ]
    )
    func statuses(code: Int, english: String, chinese: String) {
        let error = Self.status(code)
        #expect(error.text(in: .english) == english)
        #expect(error.text(in: .simplifiedChinese) == chinese)
        #expect(error.text(.failureReason, in: .english) == "Error code: \(code).")
        #expect(error.text(.failureReason, in: .simplifiedChinese) == "错误代码：\(code)。")
    }

    @Test(
        "The language is the first of the person's that there are sentences in",
        arguments: [
            (["zh-Hans-CN", "en"], ErrorTexts.Language.simplifiedChinese), (["zh_CN.UTF-8"], .simplifiedChinese),
            (["zh"], .simplifiedChinese), (["zh-SG"], .simplifiedChinese), (["zh-Hans-HK"], .simplifiedChinese),
            (["zh-Hant-TW", "zh-Hans"], .traditionalChinese), (["zh-TW"], .traditionalChinese),
            (["zh_HK", "fr"], .traditionalChinese), (["zh-Hant"], .traditionalChinese),
            (["zh_MO"], .traditionalChinese),
            (["zh_TW.UTF-8"], .traditionalChinese), (["zh-Hans-TW"], .simplifiedChinese),
            (["fr", "en-GB", "zh"], .english), (["de", "zh-CN", "en"], .simplifiedChinese), (["C"], .english),
            ([], .english),
            (["", "-"], .english),
        ]
    )
    func languages(tags: [String], language: ErrorTexts.Language) {
        #expect(ErrorTexts.Language(preferred: tags) == language)
    }

    @Test("The app's own text goes first, and leaves the rest to the fallback")
    func custom() {
        let texts = ErrorTexts.custom(or: .simplifiedChinese) { error, piece in
            error.kind == .offline && piece == .description ? "No connection to the shop." : nil
        }
        #expect(Self.error(.offline).text(in: texts) == "No connection to the shop.")
        #expect(Self.error(.offline).text(.recoverySuggestion, in: texts) == "请检查网络设置后重试。")
        #expect(Self.error(.timedOut).text(in: texts) == "请求超时。")
    }

    @Test("The process's choice is what errorDescription and its like say")
    func current() {
        let before = ErrorTexts.current
        defer { ErrorTexts.current = before }
        // Other tests run meanwhile: so only this very error reads otherwise.
        ErrorTexts.current = .custom { error, piece in
            (error.appError as? Marker) == nil ? nil : "\(piece) in Klingon"
        }
        let error = TargetKitError(stage: .transport, appError: Marker())
        #expect(error.errorDescription == "description in Klingon")
        #expect(error.failureReason == "failureReason in Klingon")
        #expect(error.recoverySuggestion == "recoverySuggestion in Klingon")
        #expect(error.localizedDescription == "description in Klingon")
    }

    struct Marker: Error {}

    struct SoldOut: LocalizedError {
        var errorDescription: String? { "The tea is sold out." }
    }

    @Test("The app's own error and the server's message speak for themselves, an empty message does not")
    func ownTexts() {
        var error = TargetKitError(stage: .envelope, appError: SoldOut())
        #expect(error.text(in: .simplifiedChinese) == "The tea is sold out.")
        #expect(error.text(.recoverySuggestion, in: .english) == "Check what you entered or try again later.")
        error.appError = nil
        error.underlying = ServerDefinedError(code: "7", message: "余额不足")
        #expect(error.text(in: .english) == "余额不足")
        error.underlying = ServerDefinedError(code: "7", message: "")
        #expect(error.text(in: .english) == "The operation could not be completed.")
    }

    @Test("No sentence holds what was sent or received", arguments: Kind.allCases)
    func secrets(kind: Kind) throws {
        var error = Self.error(kind)
        error.request = URLRequest(url: try #require(URL(string: "https://u:s3cret@h.example/s3cret?a=s3cret")))
        error.request?.setValue("s3cret", forHTTPHeaderField: "Authorization")
        error.request?.httpBody = Data("s3cret".utf8)
        for texts in [ErrorTexts.english, .simplifiedChinese] {
            for piece in ErrorTexts.Piece.allCases { #expect(!error.text(piece, in: texts).contains("s3cret")) }
        }
    }
}

extension ErrorTexts.Piece {
    fileprivate var index: Int { [.description, .failureReason, .recoverySuggestion].firstIndex(of: self) ?? 1 }
}

extension MultipartForm {
    fileprivate static var notAForm: any Error {
        do {
            _ = try MultipartForm(parts: []).data()
            return Boom()
        } catch {
            return error
        }
    }
}
