# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/3124, first in v1.14.0.

@karpenter @issue-3124
Feature: A pod claims a device whether or not one of its containers is named to use it

  A container names the claims of its pod that it uses. A claim that none names is allocated all the same.

  @karpenter-3124-claim-of-a-pod
  Scenario: No container of a pod uses what the pod claims, and another pod claims nothing
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 12s after their launch and are Ready 2s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: resource.k8s.io/v1
      kind: DeviceClass
      metadata: {name: fabric}
      spec:
        selectors: [{cel: {expression: "device.driver == 'fabric.example.com'"}}]
      ---
      apiVersion: resource.k8s.io/v1
      kind: ResourceClaim
      metadata: {name: channel, namespace: default}
      spec:
        devices:
          requests: [{name: channel, exactly: {deviceClassName: fabric}}]
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: worker, namespace: default}
      spec:
        resourceClaims: [{name: channel, resourceClaimName: channel}]
        containers: [{name: worker, image: worker, resources: {requests: {cpu: 3}}}]
      """
    And a pod "web" that requests 3 CPU is created
    Then the pod "web" is Running within 3m
    And 7m from now, exactly 1 NodeClaim has been created since the start
