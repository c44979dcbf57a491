// SPDX-License-Identifier: MIT

/// The sentences about one failure: the description, the reason and the suggestion.
struct ErrorSentences {
    let description: String
    let reason: String
    let suggestion: String
}

/// The sentences in one language. Each entry has the description, the reason and the suggestion, separated by ` | `. An
/// entry with only two sentences uses the table's ``refusal`` as its reason.
struct ErrorSentenceTable: Sendable {
    let kinds: [TargetKitError.Kind: String]
    /// The entries for statuses that differ from their kind.
    let statuses: [Int: String]
    /// The entry for a TLS handshake that failed before a certificate was evaluated.
    let handshake: String
    /// The reason for a status that the server didn't send.
    let refusal: String
    /// The reason for a status; the status code is inserted between the two texts.
    let errorCode: (String, String)

    /// The sentences about a failure.
    ///
    /// - Parameters:
    ///   - status: The status code that selects among the sentences of a kind.
    ///   - isAnswered: Whether the server sent that status.
    func sentences(about kind: TargetKitError.Kind, status: Int?, isAnswered: Bool) -> ErrorSentences {
        let special = status.flatMap { TargetKitError.Kind(statusCode: $0) == kind ? statuses[$0] : nil }
        let code = isAnswered && Self.kindsOfStatuses.contains(kind) ? status : nil
        return sentences(special ?? kinds[kind] ?? "", code: code)
    }

    func sentences(_ entry: String, code: Int? = nil) -> ErrorSentences {
        let texts = entry.components(separatedBy: " | ")
        let reason = code.map { "\(errorCode.0)\($0)\(errorCode.1)" } ?? (texts.count > 2 ? texts[1] : refusal)
        return ErrorSentences(description: texts[0], reason: reason, suggestion: texts[texts.count - 1])
    }

    /// The kinds whose reason is the server's status.
    private static let kindsOfStatuses: Set<TargetKitError.Kind> = [
        .unauthorized, .forbidden, .notFound, .conflict, .rateLimited, .client, .server, .unexpectedStatus,
    ]
}

extension ErrorSentenceTable {
    static let english = Self(
        kinds: [
            .offline: "You are not connected to the internet. | There is no connection, or this app is not allowed to "
                + "use it. | Check your connection and try again.",
            .timedOut: "The request timed out. | The server did not respond in time. | "
                + "Check your connection, or try again later.",
            .cannotConnect: "Could not connect to the server. | The server could not be found or is not responding. | "
                + "Check your connection, or try again later.",
            .connectionLost: "The network connection was lost. | The response was incomplete or damaged. | "
                + "Check your connection and try again.",
            .insecureConnection: "Could not connect securely. | The identity of the server could not be verified. | "
                + "Check the date and time, or try another network.",
            .badRedirect: "This content could not be loaded. | The server redirected the request incorrectly. | "
                + "Try again later.",
            .tooLarge: "The content is too large to load. | It exceeds the size limit of this app. | "
                + "Try loading less at a time.",
            .cancelled: "The operation was canceled. | It was stopped before it finished. | "
                + "Try again if you still need it.",
            .unauthorized: "You are not signed in, or your session has expired. | The server did not accept the "
                + "sign-in information. | Sign in and try again.",
            .forbidden: "You do not have permission to do this. | Request access or use another account.",
            .notFound: "This content could not be found. | Go back and refresh.",
            .conflict: "This content has changed or already exists. | Refresh and try again.",
            .rateLimited: "There have been too many attempts. | Wait a moment and try again.",
            .client: "The request could not be completed. | Check what you entered and try again.",
            .server: "There was a problem with the server. | Try again later.",
            .unexpectedStatus: "The server returned an unexpected response. | Try again later.",
            .decoding: "The data could not be read. | It isn't in the expected format. | "
                + "Try again later, or update the app.",
            .rejected: "The operation could not be completed. | The server reported a problem. | "
                + "Check what you entered or try again later.",
            .invalidRequest: "The app could not send the request. | Some of its content is missing or invalid. | "
                + "Try again, or update the app.",
            .unreadableFile: "The file could not be opened. | It was moved or deleted, or this app is not allowed to "
                + "open it. | Choose another file.",
            .storageFull: "There is not enough storage. | There is no space left to store the content. | "
                + "Free up space and try again.",
            .shutDown: "This operation is not available right now. | The app has stopped sending requests. | "
                + "Reopen the app and try again.",
            .notCached: "This content is not available offline. | It is not stored on this device. | "
                + "Connect to the internet and try again.",
            .unknown: "An unknown error occurred. | The cause is unknown. | Try again later.",
        ],
        statuses: [
            408: "The request timed out. | Try again.",
            410: "This content is no longer available. | Go back and refresh.",
            413: "The content is too large to send. | Reduce its size and try again.",
            503: "The service is temporarily unavailable. | The server isn't responding. | Try again later.",
            504: "The request timed out. | Try again later.",
        ],
        handshake: "Could not connect securely. | The server does not support a secure connection that this app "
            + "accepts. | Try again later, or try another network.",
        refusal: "The server did not accept the request.",
        errorCode: ("Error code: ", ".")
    )

    static let simplifiedChinese = Self(
        kinds: [
            .offline: "当前没有网络连接。 | 设备未联网，或未允许此 App 使用网络。 | 请检查网络设置后重试。",
            .timedOut: "请求超时。 | 服务器未及时响应。 | 请检查网络，或稍后再试。",
            .cannotConnect: "无法连接到服务器。 | 找不到服务器，或服务器没有响应。 | 请检查网络，或稍后再试。",
            .connectionLost: "网络连接已中断。 | 收到的数据不完整或已损坏。 | 请检查网络后重试。",
            .insecureConnection: "无法建立安全连接。 | 无法验证服务器身份。 | 请检查日期与时间，或更换网络后重试。",
            .badRedirect: "无法加载此内容。 | 服务器的重定向有误。 | 请稍后再试。",
            .tooLarge: "内容过大，无法加载。 | 内容超出此 App 的大小限制。 | 请缩小范围后重试。",
            .cancelled: "操作已取消。 | 操作在完成前已停止。 | 如有需要，请重试。",
            .unauthorized: "未登录或登录已失效。 | 服务器未接受登录信息。 | 请登录后重试。",
            .forbidden: "没有权限执行此操作。 | 请申请权限，或更换账号登录。",
            .notFound: "找不到此内容。 | 请返回并刷新。",
            .conflict: "此内容已更改或已存在。 | 请刷新后重试。",
            .rateLimited: "操作过于频繁。 | 请稍后再试。",
            .client: "无法完成此请求。 | 请检查填写的内容后重试。",
            .server: "服务器出现问题。 | 请稍后再试。",
            .unexpectedStatus: "服务器响应异常。 | 请稍后再试。",
            .decoding: "无法读取数据。 | 数据格式不正确。 | 请稍后再试，或更新 App。",
            .rejected: "操作未能完成。 | 服务器未能完成此操作。 | 请检查填写的内容，或稍后再试。",
            .invalidRequest: "无法发送请求。 | 请求内容缺失或无效。 | 请重试，或更新 App。",
            .unreadableFile: "无法打开文件。 | 文件已移动或删除，或未允许此 App 打开。 | 请选择其他文件。",
            .storageFull: "储存空间不足。 | 没有空间保存此内容。 | 请清理空间后重试。",
            .shutDown: "当前无法执行此操作。 | 此 App 已停止发送请求。 | 请重新打开 App 后重试。",
            .notCached: "此内容无法离线使用。 | 此设备上没有储存此内容。 | 请连接网络后重试。",
            .unknown: "发生未知错误。 | 原因未知。 | 请稍后再试。",
        ],
        statuses: [
            408: "请求超时。 | 请重试。",
            410: "此内容已不存在。 | 请返回并刷新。",
            413: "内容过大，无法发送。 | 请减少内容或压缩文件后重试。",
            503: "服务暂时不可用。 | 服务器近期没有响应。 | 请稍后再试。",
            504: "请求超时。 | 请稍后再试。",
        ],
        handshake: "无法建立安全连接。 | 服务器不支持此 App 要求的安全连接。 | 请稍后再试，或更换网络后重试。",
        refusal: "服务器未接受此请求。",
        errorCode: ("错误代码：", "。")
    )

    static let traditionalChinese = Self(
        kinds: [
            .offline: "目前沒有網路連線。 | 裝置未連線，或未允許此 App 使用網路。 | 請檢查網路設定後重試。",
            .timedOut: "要求逾時。 | 伺服器未及時回應。 | 請檢查網路，或稍後再試。",
            .cannotConnect: "無法連接伺服器。 | 找不到伺服器，或伺服器沒有回應。 | 請檢查網路，或稍後再試。",
            .connectionLost: "網路連線已中斷。 | 收到的資料不完整或已損毀。 | 請檢查網路後重試。",
            .insecureConnection: "無法建立安全連線。 | 無法驗證伺服器的身分。 | 請檢查日期與時間，或更換網路後重試。",
            .badRedirect: "無法載入此內容。 | 伺服器的重新導向有誤。 | 請稍後再試。",
            .tooLarge: "內容過大，無法載入。 | 內容超過此 App 的大小限制。 | 請縮小範圍後重試。",
            .cancelled: "操作已取消。 | 操作在完成前已停止。 | 如有需要，請重試。",
            .unauthorized: "尚未登入或登入已失效。 | 伺服器未接受登入資訊。 | 請登入後重試。",
            .forbidden: "沒有權限執行此操作。 | 請申請權限，或使用其他帳號登入。",
            .notFound: "找不到此內容。 | 請返回並重新整理。",
            .conflict: "此內容已更改或已存在。 | 請重新整理後重試。",
            .rateLimited: "操作過於頻繁。 | 請稍後再試。",
            .client: "無法完成此要求。 | 請檢查輸入的內容後重試。",
            .server: "伺服器發生問題。 | 請稍後再試。",
            .unexpectedStatus: "伺服器回應異常。 | 請稍後再試。",
            .decoding: "無法讀取資料。 | 資料格式不正確。 | 請稍後再試，或更新 App。",
            .rejected: "操作未能完成。 | 伺服器未能完成此操作。 | 請檢查輸入的內容，或稍後再試。",
            .invalidRequest: "無法傳送要求。 | 要求的內容缺漏或無效。 | 請重試，或更新 App。",
            .unreadableFile: "無法開啟檔案。 | 檔案已移動或刪除，或未允許此 App 開啟。 | 請選擇其他檔案。",
            .storageFull: "儲存空間不足。 | 沒有空間可儲存此內容。 | 請清出空間後重試。",
            .shutDown: "目前無法執行此操作。 | 此 App 已停止傳送要求。 | 請重新打開 App 後重試。",
            .notCached: "此內容無法離線使用。 | 此裝置上沒有儲存此內容。 | 請連接網路後重試。",
            .unknown: "發生未知的錯誤。 | 原因不明。 | 請稍後再試。",
        ],
        statuses: [
            408: "要求逾時。 | 請重試。",
            410: "此內容已不存在。 | 請返回並重新整理。",
            413: "內容過大，無法傳送。 | 請減少內容或壓縮檔案後重試。",
            503: "服務暫時無法使用。 | 伺服器近期沒有回應。 | 請稍後再試。",
            504: "要求逾時。 | 請稍後再試。",
        ],
        handshake: "無法建立安全連線。 | 伺服器不支援此 App 要求的安全連線。 | 請稍後再試，或更換網路後重試。",
        refusal: "伺服器未接受此要求。",
        errorCode: ("錯誤代碼：", "。")
    )
}
