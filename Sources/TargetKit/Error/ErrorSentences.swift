// SPDX-License-Identifier: MIT

/// The sentences about one failure: what happened, why, and what to do about it.
struct ErrorSentences {
    var description: String
    var reason: String
    var suggestion: String

    init(_ description: String, _ reason: String, _ suggestion: String) {
        self.description = description
        self.reason = reason
        self.suggestion = suggestion
    }
}

// MARK: English

extension ErrorSentences {
    /// The sentences in English.
    ///
    /// - Parameters:
    ///   - status: The status code that selects among the sentences of a kind.
    ///   - isAnswered: Whether the server sent that status.
    static func english(_ kind: TargetKitError.Kind, status: Int?, isAnswered: Bool) -> Self {
        englishOfTransport(kind) ?? englishOfStatus(kind, status, isAnswered: isAnswered) ?? englishOfApp(kind)
    }

    /// The TLS handshake failed before a certificate was evaluated.
    static let englishOfHandshake = Self(
        "Could not connect securely.",
        "The server does not support a secure connection that this app accepts.",
        "Try again later, or try another network."
    )

    private static func englishOfTransport(_ kind: TargetKitError.Kind) -> Self? {
        switch kind {
        case .offline:
            Self(
                "You are not connected to the internet.",
                "There is no connection, or this app is not allowed to use it.",
                "Check your connection and try again."
            )
        case .timedOut:
            Self(
                "The request timed out.",
                "The server did not respond in time.",
                "Check your connection, or try again later."
            )
        case .cannotConnect:
            Self(
                "Could not connect to the server.",
                "The server could not be found or is not responding.",
                "Check your connection, or try again later."
            )
        case .connectionLost:
            Self(
                "The network connection was lost.",
                "The response was incomplete or damaged.",
                "Check your connection and try again."
            )
        case .insecureConnection:
            Self(
                "Could not connect securely.",
                "The identity of the server could not be verified.",
                "Check the date and time, or try another network."
            )
        case .badRedirect:
            Self(
                "This content could not be loaded.",
                "The server redirected the request incorrectly.",
                "Try again later."
            )
        case .tooLarge:
            Self(
                "The content is too large to load.",
                "It exceeds the size limit of this app.",
                "Try loading less at a time."
            )
        case .cancelled:
            Self(
                "The operation was canceled.",
                "It was stopped before it finished.",
                "Try again if you still need it."
            )
        default: nil
        }
    }

    private static func englishOfStatus(
        _ kind: TargetKitError.Kind,
        _ status: Int?,
        isAnswered: Bool
    ) -> Self? {
        let reason =
            switch (kind, status) {
            case (_, let status?) where isAnswered: "Error code: \(status)."
            case (.unauthorized, _): "The server did not accept the sign-in information."
            case (.server, 503): "The server has not been responding."
            default: "The server did not accept the request."
            }
        return switch (kind, status) {
        case (.unauthorized, _):
            Self("You are not signed in, or your session has expired.", reason, "Sign in and try again.")
        case (.forbidden, _):
            Self("You do not have permission to do this.", reason, "Request access or use another account.")
        case (.notFound, 410): Self("This content is no longer available.", reason, "Go back and refresh.")
        case (.notFound, _): Self("This content could not be found.", reason, "Go back and refresh.")
        case (.conflict, _): Self("This content has changed or already exists.", reason, "Refresh and try again.")
        case (.rateLimited, _): Self("There have been too many attempts.", reason, "Wait a moment and try again.")
        case (.client, 408): Self("The request timed out.", reason, "Try again.")
        case (.client, 413): Self("The content is too large to send.", reason, "Reduce its size and try again.")
        case (.client, _):
            Self("The request could not be completed.", reason, "Check what you entered and try again.")
        case (.server, 503): Self("The service is temporarily unavailable.", reason, "Try again later.")
        case (.server, 504): Self("The request timed out.", reason, "Try again later.")
        case (.server, _): Self("There was a problem with the server.", reason, "Try again later.")
        case (.unexpectedStatus, _):
            Self("The server returned an unexpected response.", reason, "Try again later.")
        default: nil
        }
    }

    private static func englishOfApp(_ kind: TargetKitError.Kind) -> Self {
        switch kind {
        case .decoding:
            Self(
                "The data could not be read.",
                "It is not in the expected format.",
                "Try again later, or update the app."
            )
        case .rejected:
            Self(
                "The operation could not be completed.",
                "The server reported a problem.",
                "Check what you entered or try again later."
            )
        case .invalidRequest:
            Self(
                "The app could not send the request.",
                "Some of its content is missing or not valid.",
                "Try again, or update the app."
            )
        case .unreadableFile:
            Self(
                "The file could not be opened.",
                "It was moved or deleted, or this app is not allowed to open it.",
                "Choose another file."
            )
        case .storageFull:
            Self(
                "There is not enough storage.",
                "There is no space left to save the content.",
                "Free up space and try again."
            )
        case .shutDown:
            Self(
                "This operation is not available right now.",
                "The app has stopped sending requests.",
                "Reopen the app and try again."
            )
        default: Self("An unknown error occurred.", "The cause is not known.", "Try again later.")
        }
    }
}

// MARK: Simplified Chinese

extension ErrorSentences {
    /// The sentences in Simplified Chinese.
    ///
    /// - Parameters:
    ///   - status: The status code that selects among the sentences of a kind.
    ///   - isAnswered: Whether the server sent that status.
    static func simplifiedChinese(_ kind: TargetKitError.Kind, status: Int?, isAnswered: Bool) -> Self {
        chineseOfTransport(kind) ?? chineseOfStatus(kind, status, isAnswered: isAnswered) ?? chineseOfApp(kind)
    }

    /// The TLS handshake failed before a certificate was evaluated.
    static let chineseOfHandshake = Self(
        "无法建立安全连接。",
        "服务器不支持此 App 要求的安全连接。",
        "请稍后再试，或更换网络后重试。"
    )

    private static func chineseOfTransport(_ kind: TargetKitError.Kind) -> Self? {
        switch kind {
        case .offline: Self("当前没有网络连接。", "设备未联网，或未允许此 App 使用网络。", "请检查网络设置后重试。")
        case .timedOut: Self("请求超时。", "服务器未及时响应。", "请检查网络，或稍后再试。")
        case .cannotConnect: Self("无法连接到服务器。", "找不到服务器，或服务器没有响应。", "请检查网络，或稍后再试。")
        case .connectionLost: Self("网络连接已中断。", "收到的数据不完整或已损坏。", "请检查网络后重试。")
        case .insecureConnection: Self("无法建立安全连接。", "无法验证服务器身份。", "请检查日期与时间，或更换网络后重试。")
        case .badRedirect: Self("无法加载此内容。", "服务器的重定向有误。", "请稍后再试。")
        case .tooLarge: Self("内容过大，无法加载。", "内容超出此 App 的大小限制。", "请缩小范围后重试。")
        case .cancelled: Self("操作已取消。", "操作在完成前已停止。", "如有需要，请重试。")
        default: nil
        }
    }

    private static func chineseOfStatus(
        _ kind: TargetKitError.Kind,
        _ status: Int?,
        isAnswered: Bool
    ) -> Self? {
        let reason =
            switch (kind, status) {
            case (_, let status?) where isAnswered: "错误代码：\(status)。"
            case (.unauthorized, _): "服务器未接受登录信息。"
            case (.server, 503): "服务器近期没有响应。"
            default: "服务器未接受此请求。"
            }
        return switch (kind, status) {
        case (.unauthorized, _): Self("未登录或登录已失效。", reason, "请登录后重试。")
        case (.forbidden, _): Self("没有权限执行此操作。", reason, "请申请权限，或更换账号登录。")
        case (.notFound, 410): Self("此内容已不存在。", reason, "请返回并刷新。")
        case (.notFound, _): Self("找不到此内容。", reason, "请返回并刷新。")
        case (.conflict, _): Self("此内容已更改或已存在。", reason, "请刷新后重试。")
        case (.rateLimited, _): Self("操作过于频繁。", reason, "请稍后再试。")
        case (.client, 408): Self("请求超时。", reason, "请重试。")
        case (.client, 413): Self("内容过大，无法发送。", reason, "请减少内容或压缩文件后重试。")
        case (.client, _): Self("无法完成此请求。", reason, "请检查填写的内容后重试。")
        case (.server, 503): Self("服务暂时不可用。", reason, "请稍后再试。")
        case (.server, 504): Self("请求超时。", reason, "请稍后再试。")
        case (.server, _): Self("服务器出现问题。", reason, "请稍后再试。")
        case (.unexpectedStatus, _): Self("服务器响应异常。", reason, "请稍后再试。")
        default: nil
        }
    }

    private static func chineseOfApp(_ kind: TargetKitError.Kind) -> Self {
        switch kind {
        case .decoding: Self("无法读取数据。", "数据格式不正确。", "请稍后再试，或更新 App。")
        case .rejected: Self("操作未能完成。", "服务器未能完成此操作。", "请检查填写的内容，或稍后再试。")
        case .invalidRequest: Self("无法发送请求。", "请求内容缺失或无效。", "请重试，或更新 App。")
        case .unreadableFile: Self("无法打开文件。", "文件已移动或删除，或未允许此 App 打开。", "请选择其他文件。")
        case .storageFull: Self("储存空间不足。", "没有空间保存此内容。", "请清理空间后重试。")
        case .shutDown: Self("当前无法执行此操作。", "此 App 已停止发送请求。", "请重新打开 App 后重试。")
        default: Self("发生未知错误。", "原因未知。", "请稍后再试。")
        }
    }
}
