# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2316, first in v1.6.0.

@karpenter @issue-2316
Feature: A node goes when its termination grace period is over, whatever its pods need

  @karpenter-2316-terminating-pods
  Scenario: A pod that a user has deleted stops for an hour, and its machine may take a minute
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.kwok.sh/v1alpha1
      kind: KWOKNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          spec:
            terminationGracePeriod: 1m
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, annotations: {nodestorm.sim/stop-after: 2h}}
      spec:
        terminationGracePeriodSeconds: 3600
        containers: [{name: web, image: web, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    When "Pod/web" is deleted
    And "NodeClaim/$name" is deleted once "karpenter" has ever sent "create" of "nodeclaims"
    Then the pod "web" is gone within 5m
