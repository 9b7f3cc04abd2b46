# https://github.com/Azure/karpenter-provider-azure/issues/1854

@karpenter @issue-1854
Feature: What cannot be had is not asked for without a pause

  @karpenter-1854-out-of-stock
  Scenario: The only type of a NodePool of a fixed size is out of stock
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And a cloud of instances
    And the instance type "c-4x-amd64-linux" is out of stock
    And the target has the environment variables:
      | FEATURE_GATES | StaticCapacity=true |
    And Karpenter
    When these objects are created:
      """
      apiVersion: karpenter.nodestorm.sim/v1alpha1
      kind: FakeNodeClass
      metadata: {name: default}
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: static}
      spec:
        replicas: 1
        template:
          spec:
            nodeClassRef: {group: karpenter.nodestorm.sim, kind: FakeNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    Then "karpenter" has sent "create" of "nodeclaims" within 2m
    And "karpenter" has sent "create" of "nodeclaims" no more than 10 times in any 10m, for all objects together, within 12m
