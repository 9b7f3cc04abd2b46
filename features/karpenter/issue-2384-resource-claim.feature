# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2384

@karpenter @issue-2384
Feature: No machine is bought for a device that it will not have

  @karpenter-2384-resource-claim
  Scenario: A pod claims a device
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: gpu.example.com}
      spec: {selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]}
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaimTemplate
      metadata: {name: gpu}
      spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
      """
    And a pod "other" that requests 3 CPU is Running
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        resourceClaims: [{name: gpu, resourceClaimTemplateName: gpu}]
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}]
      """
    Then 10m from now, exactly 1 NodeClaim has been created since the start
