// SPDX-License-Identifier: MIT

extension ErrorSentences {
    /// What happened, why, and what to do, in English.
    static func english(_ kind: TargetKitError.Kind, status: Int?) -> Self {
        englishOfTransport(kind) ?? englishOfStatus(kind, status) ?? englishOfProgram(kind)
    }

    /// The TLS handshake failed before a certificate was evaluated.
    static let englishOfHandshake = Self(
        "A secure connection is not possible.",
        "The server does not offer one that the app accepts.",
        "Try again later, or in another network."
    )

    private static func englishOfTransport(_ kind: TargetKitError.Kind) -> Self? {
        switch kind {
        case .offline:
            Self("You are offline.", "There is no connection to the network.", "Check your connection and try again.")
        case .timedOut:
            Self("The server takes too long to answer.", "No answer came in time.", "Try again in a moment.")
        case .cannotConnect:
            Self(
                "The server cannot be reached.",
                "It was not found, or does not take the connection.",
                "Check your connection, or try again later."
            )
        case .connectionLost:
            Self("The connection was lost.", "The answer came only in part, or damaged.", "Try again.")
        case .insecureConnection:
            Self(
                "A secure connection is not possible.",
                "The server could not prove who it is.",
                "Check the date of your device and the network you are in."
            )
        case .badRedirect:
            Self("The server cannot answer this.", "It sends the request in circles.", "Try again later.")
        case .tooLarge:
            Self("The answer is too large.", "It is larger than the app accepts.", "Ask for less at once.")
        case .cancelled:
            Self("This was cancelled.", "It was stopped before it was done.", "Start it again if you still need it.")
        default: nil
        }
    }

    private static func englishOfStatus(_ kind: TargetKitError.Kind, _ status: Int?) -> Self? {
        let reason = status.map { "The server answered with status \($0)." } ?? "The server did not accept the request."
        switch (kind, status) {
        case (.unauthorized, _): return Self("You are not signed in.", reason, "Sign in and try again.")
        case (.forbidden, _): return Self("You are not allowed to do this.", reason, "Ask for access, or sign in anew.")
        case (.notFound, 410): return Self("This is no longer there.", reason, "Go back and reload.")
        case (.notFound, _): return Self("This could not be found.", reason, "Go back and reload.")
        case (.conflict, _): return Self("This was changed in the meantime.", reason, "Reload and try again.")
        case (.rateLimited, _): return Self("That was too much at once.", reason, "Wait a moment and try again.")
        case (.client, 408): return Self("The request took too long.", reason, "Try again.")
        case (.client, 413): return Self("What you send is too large.", reason, "Send less at once.")
        case (.client, _): return Self("The server did not accept this.", reason, "Check what you entered.")
        case (.server, 503): return Self("The service is not available.", reason, "Try again later.")
        case (.server, 504): return Self("The server takes too long to answer.", reason, "Try again in a moment.")
        case (.server, _): return Self("Something went wrong on the server.", reason, "Try again later.")
        case (.unexpectedStatus, _): return Self("The server gave an unexpected answer.", reason, "Try again later.")
        default: return nil
        }
    }

    private static func englishOfProgram(_ kind: TargetKitError.Kind) -> Self {
        switch kind {
        case .decoding:
            Self(
                "The server's answer could not be read.",
                "It is not what the app expects.",
                "Try again later, or update the app."
            )
        case .rejected:
            Self("The server refused this.", "The server reported a failure.", "Check what you entered, or try later.")
        case .invalidRequest:
            Self("The app could not make the request.", "What it was made from does not fit.", "Update the app.")
        case .shutDown:
            Self("The app is closing.", "No new requests are made.", "Start the app again.")
        default:
            Self("Something went wrong.", "The cause is not known.", "Try again.")
        }
    }
}

extension ErrorSentences {
    /// What happened, why, and what to do, in Simplified Chinese.
    static func simplifiedChinese(_ kind: TargetKitError.Kind, status: Int?) -> Self {
        chineseOfTransport(kind) ?? chineseOfStatus(kind, status) ?? chineseOfProgram(kind)
    }

    /// The TLS handshake failed before a certificate was evaluated.
    static let chineseOfHandshake = Self("无法建立安全连接。", "服务器未提供应用可接受的安全连接。", "请稍后重试，或更换网络。")

    private static func chineseOfTransport(_ kind: TargetKitError.Kind) -> Self? {
        switch kind {
        case .offline: Self("当前没有网络连接。", "设备未连接到网络。", "请检查网络后重试。")
        case .timedOut: Self("服务器响应超时。", "未能及时收到响应。", "请稍后重试。")
        case .cannotConnect: Self("无法连接到服务器。", "找不到服务器，或服务器拒绝了连接。", "请检查网络，或稍后重试。")
        case .connectionLost: Self("网络连接已中断。", "收到的数据不完整或已损坏。", "请重试。")
        case .insecureConnection:
            Self("无法建立安全连接。", "服务器未能证明其身份。", "请检查设备日期和所在的网络。")
        case .badRedirect: Self("服务器无法处理此请求。", "请求被反复重定向。", "请稍后重试。")
        case .tooLarge: Self("返回的内容过大。", "内容超出了应用允许的大小。", "请减少单次请求的内容。")
        case .cancelled: Self("操作已取消。", "操作在完成前被停止。", "如仍需要，请重新开始。")
        default: nil
        }
    }

    private static func chineseOfStatus(_ kind: TargetKitError.Kind, _ status: Int?) -> Self? {
        let reason = status.map { "服务器返回了状态码 \($0)。" } ?? "服务器未接受此请求。"
        switch (kind, status) {
        case (.unauthorized, _): return Self("您尚未登录或登录已失效。", reason, "请登录后重试。")
        case (.forbidden, _): return Self("您没有权限执行此操作。", reason, "请申请权限，或重新登录。")
        case (.notFound, 410): return Self("该内容已不存在。", reason, "请返回并刷新。")
        case (.notFound, _): return Self("找不到该内容。", reason, "请返回并刷新。")
        case (.conflict, _): return Self("该内容已被更改。", reason, "请刷新后重试。")
        case (.rateLimited, _): return Self("操作过于频繁。", reason, "请稍候再试。")
        case (.client, 408): return Self("请求超时。", reason, "请重试。")
        case (.client, 413): return Self("发送的内容过大。", reason, "请减少单次发送的内容。")
        case (.client, _): return Self("服务器未接受此请求。", reason, "请检查输入的内容。")
        case (.server, 503): return Self("服务暂不可用。", reason, "请稍后重试。")
        case (.server, 504): return Self("服务器响应超时。", reason, "请稍后重试。")
        case (.server, _): return Self("服务器出现错误。", reason, "请稍后重试。")
        case (.unexpectedStatus, _): return Self("服务器返回了意外的结果。", reason, "请稍后重试。")
        default: return nil
        }
    }

    private static func chineseOfProgram(_ kind: TargetKitError.Kind) -> Self {
        switch kind {
        case .decoding: Self("无法读取服务器返回的数据。", "数据格式与应用的预期不符。", "请稍后重试，或更新应用。")
        case .rejected: Self("服务器拒绝了此操作。", "服务器报告操作失败。", "请检查输入的内容，或稍后重试。")
        case .invalidRequest: Self("应用无法创建此请求。", "请求所用的内容有误。", "请更新应用。")
        case .shutDown: Self("应用正在关闭。", "已不再接受新的请求。", "请重新启动应用。")
        default: Self("出现了错误。", "原因未知。", "请重试。")
        }
    }
}
