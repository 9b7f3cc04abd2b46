# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2384, first in v1.7.0.

@karpenter @issue-2384
Feature: No machine is launched for a pod that claims a device of which Karpenter knows nothing

  Kubernetes allocates devices by ResourceClaims, by default since 1.34. Releases of Karpenter from before look past them.

  @karpenter-2384-device-claim
  Scenario: A pod claims a device that no machine has, and another claims none
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: gpu}
      spec:
        selectors: [{cel: {expression: "device.driver == 'gpu.example.com'"}}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaim
      metadata: {name: gpu, namespace: default}
      spec:
        devices:
          requests: [{name: gpu, exactly: {deviceClassName: gpu}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: default}
      spec:
        resourceClaims: [{name: gpu, resourceClaimName: gpu}]
        containers: [{name: train, image: train, resources: {requests: {cpu: 3}, claims: [{name: gpu}]}}]
      """
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 2m
    And 5m from now, exactly 1 NodeClaim has been created since the start
