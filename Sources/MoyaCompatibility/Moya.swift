// SPDX-License-Identifier: MIT

// Files that import Moya often use Foundation's types without importing Foundation. The attribute has no public
// spelling yet; Foundation itself uses it to export Dispatch.
@_exported import Foundation

#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif

/// This module's types under Moya's module name, so that `Moya.Method` and `Moya.Task` keep their meaning.
public enum Moya {
    /// ``TargetKitMoya/AccessTokenAuthorizable``.
    public typealias AccessTokenAuthorizable = TargetKitMoya.AccessTokenAuthorizable
    /// ``TargetKitMoya/AccessTokenPlugin``.
    public typealias AccessTokenPlugin = TargetKitMoya.AccessTokenPlugin
    /// ``TargetKitMoya/AuthorizationType``.
    public typealias AuthorizationType = TargetKitMoya.AuthorizationType
    /// ``TargetKitMoya/Cancellable``.
    public typealias Cancellable = TargetKitMoya.Cancellable
    /// ``TargetKitMoya/CancellableToken``.
    public typealias CancellableToken = TargetKitMoya.CancellableToken
    /// ``TargetKitMoya/Completion``.
    public typealias Completion = TargetKitMoya.Completion
    /// ``TargetKitMoya/CredentialsPlugin``.
    public typealias CredentialsPlugin = TargetKitMoya.CredentialsPlugin
    /// ``TargetKitMoya/DownloadDestination``.
    public typealias DownloadDestination = TargetKitMoya.DownloadDestination
    /// ``TargetKitMoya/Endpoint``.
    public typealias Endpoint = TargetKitMoya.Endpoint
    /// ``TargetKitMoya/EndpointSampleResponse``.
    public typealias EndpointSampleResponse = TargetKitMoya.EndpointSampleResponse
    /// ``TargetKitMoya/JSONEncoding``.
    public typealias JSONEncoding = TargetKitMoya.JSONEncoding
    /// ``TargetKitMoya/Method``.
    public typealias Method = TargetKitMoya.HTTPMethod
    /// ``TargetKitMoya/MoyaError``.
    public typealias MoyaError = TargetKitMoya.MoyaError
    /// ``TargetKitMoya/MoyaProvider``.
    public typealias MoyaProvider = TargetKitMoya.MoyaProvider
    /// ``TargetKitMoya/MoyaProviderType``.
    public typealias MoyaProviderType = TargetKitMoya.MoyaProviderType
    /// ``TargetKitMoya/MultiTarget``.
    public typealias MultiTarget = TargetKitMoya.MultiTarget
    /// ``TargetKitMoya/MultipartFormData``.
    public typealias MultipartFormData = TargetKitMoya.MultipartFormData
    /// ``TargetKitMoya/NetworkActivityChangeType``.
    public typealias NetworkActivityChangeType = TargetKitMoya.NetworkActivityChangeType
    /// ``TargetKitMoya/NetworkActivityPlugin``.
    public typealias NetworkActivityPlugin = TargetKitMoya.NetworkActivityPlugin
    /// ``TargetKitMoya/NetworkLoggerPlugin``.
    public typealias NetworkLoggerPlugin = TargetKitMoya.NetworkLoggerPlugin
    /// ``TargetKitMoya/ParameterEncoding``.
    public typealias ParameterEncoding = TargetKitMoya.ParameterEncoding
    /// ``TargetKitMoya/PluginType``.
    public typealias PluginType = TargetKitMoya.PluginType
    /// ``TargetKitMoya/ProgressBlock``.
    public typealias ProgressBlock = TargetKitMoya.ProgressBlock
    /// ``TargetKitMoya/ProgressResponse``.
    public typealias ProgressResponse = TargetKitMoya.ProgressResponse
    /// ``TargetKitMoya/RequestInterceptor``.
    public typealias RequestInterceptor = TargetKitMoya.RequestInterceptor
    /// ``TargetKitMoya/RequestMultipartFormData``.
    public typealias RequestMultipartFormData = TargetKitMoya.RequestMultipartFormData
    /// ``TargetKitMoya/RequestType``.
    public typealias RequestType = TargetKitMoya.RequestType
    /// ``TargetKitMoya/Response``.
    public typealias Response = TargetKitMoya.Response
    /// ``TargetKitMoya/Session``.
    public typealias Session = TargetKitMoya.Session
    /// ``TargetKitMoya/StubBehavior``.
    public typealias StubBehavior = TargetKitMoya.StubBehavior
    /// ``TargetKitMoya/TargetType``.
    public typealias TargetType = TargetKitMoya.TargetType
    /// ``TargetKitMoya/Task``.
    public typealias Task = TargetKitMoya.Task
    /// ``TargetKitMoya/URLEncoding``.
    public typealias URLEncoding = TargetKitMoya.URLEncoding
    /// ``TargetKitMoya/ValidationType``.
    public typealias ValidationType = TargetKitMoya.ValidationType
}

/// This module's types under Alamofire's module name. In a file that imports Alamofire in addition to Moya, remove that
/// import; `Alamofire.Session` keeps its meaning.
public enum Alamofire {
    /// ``TargetKitMoya/AFError``.
    public typealias AFError = TargetKitMoya.AFError
    /// ``TargetKitMoya/HTTPHeader``.
    public typealias HTTPHeader = TargetKitMoya.HTTPHeader
    /// ``TargetKitMoya/HTTPHeaders``.
    public typealias HTTPHeaders = TargetKitMoya.HTTPHeaders
    /// ``TargetKitMoya/HTTPMethod``.
    public typealias HTTPMethod = TargetKitMoya.HTTPMethod
    /// ``TargetKitMoya/Interceptor``.
    public typealias Interceptor = TargetKitMoya.Interceptor
    /// ``TargetKitMoya/JSONEncoding``.
    public typealias JSONEncoding = TargetKitMoya.JSONEncoding
    /// ``TargetKitMoya/RequestMultipartFormData``.
    public typealias MultipartFormData = TargetKitMoya.RequestMultipartFormData
    /// ``TargetKitMoya/ParameterEncoding``.
    public typealias ParameterEncoding = TargetKitMoya.ParameterEncoding
    /// ``TargetKitMoya/Parameters``.
    public typealias Parameters = TargetKitMoya.Parameters
    /// ``TargetKitMoya/Request``.
    public typealias Request = TargetKitMoya.Request
    /// ``TargetKitMoya/DownloadRequest``.
    public typealias DownloadRequest = TargetKitMoya.DownloadRequest
    /// ``TargetKitMoya/RequestAdapter``.
    public typealias RequestAdapter = TargetKitMoya.RequestAdapter
    /// ``TargetKitMoya/RequestInterceptor``.
    public typealias RequestInterceptor = TargetKitMoya.RequestInterceptor
    /// ``TargetKitMoya/RequestRetrier``.
    public typealias RequestRetrier = TargetKitMoya.RequestRetrier
    /// ``TargetKitMoya/RetryResult``.
    public typealias RetryResult = TargetKitMoya.RetryResult
    /// ``TargetKitMoya/ServerTrustManager``.
    public typealias ServerTrustManager = TargetKitMoya.ServerTrustManager
    /// ``TargetKitMoya/Session``.
    public typealias Session = TargetKitMoya.Session
    /// ``TargetKitMoya/URLEncoding``.
    public typealias URLEncoding = TargetKitMoya.URLEncoding
    /// ``TargetKitMoya/URLRequestConvertible``.
    public typealias URLRequestConvertible = TargetKitMoya.URLRequestConvertible
    /// ``TargetKitMoya/Adapter``.
    public typealias Adapter = TargetKitMoya.Adapter
    /// ``TargetKitMoya/CompositeTrustEvaluator``.
    public typealias CompositeTrustEvaluator = TargetKitMoya.CompositeTrustEvaluator
    /// ``TargetKitMoya/DefaultTrustEvaluator``.
    public typealias DefaultTrustEvaluator = TargetKitMoya.DefaultTrustEvaluator
    /// ``TargetKitMoya/DisabledTrustEvaluator``.
    public typealias DisabledTrustEvaluator = TargetKitMoya.DisabledTrustEvaluator
    /// ``TargetKitMoya/EventMonitor``.
    public typealias EventMonitor = TargetKitMoya.EventMonitor
    /// ``TargetKitMoya/JSONParameterEncoder``.
    public typealias JSONParameterEncoder = TargetKitMoya.JSONParameterEncoder
    /// ``TargetKitMoya/ParameterEncoder``.
    public typealias ParameterEncoder = TargetKitMoya.ParameterEncoder
    /// ``TargetKitMoya/PinnedCertificatesTrustEvaluator``.
    public typealias PinnedCertificatesTrustEvaluator = TargetKitMoya.PinnedCertificatesTrustEvaluator
    /// ``TargetKitMoya/PublicKeysTrustEvaluator``.
    public typealias PublicKeysTrustEvaluator = TargetKitMoya.PublicKeysTrustEvaluator
    /// ``TargetKitMoya/Redirector``.
    public typealias Redirector = TargetKitMoya.Redirector
    /// ``TargetKitMoya/RequestAdapterState``.
    public typealias RequestAdapterState = TargetKitMoya.RequestAdapterState
    /// ``TargetKitMoya/ResponseCacher``.
    public typealias ResponseCacher = TargetKitMoya.ResponseCacher
    /// ``TargetKitMoya/Retrier``.
    public typealias Retrier = TargetKitMoya.Retrier
    /// ``TargetKitMoya/RetryPolicy``.
    public typealias RetryPolicy = TargetKitMoya.RetryPolicy
    /// ``TargetKitMoya/ServerTrustEvaluating``.
    public typealias ServerTrustEvaluating = TargetKitMoya.ServerTrustEvaluating
    /// ``TargetKitMoya/SessionDelegate``.
    public typealias SessionDelegate = TargetKitMoya.SessionDelegate
    /// ``TargetKitMoya/URLConvertible``.
    public typealias URLConvertible = TargetKitMoya.URLConvertible
    /// ``TargetKitMoya/URLEncodedFormEncoder``.
    public typealias URLEncodedFormEncoder = TargetKitMoya.URLEncodedFormEncoder
    /// ``TargetKitMoya/URLEncodedFormParameterEncoder``.
    public typealias URLEncodedFormParameterEncoder = TargetKitMoya.URLEncodedFormParameterEncoder
}
