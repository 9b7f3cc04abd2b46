# https://github.com/Azure/karpenter-provider-azure/issues/1790

@karpenter @issue-1790
Feature: A machine whose devices never come is replaced

  A NodeOverlay says that each machine has four devices. A device plugin reports them to the kubelet, or does not.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And the target has the environment variables:
      | FEATURE_GATES | NodeOverlay=true |
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
        disruption: {consolidateAfter: 1m}
        template:
          spec:
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      ---
      apiVersion: karpenter.sh/v1alpha1
      kind: NodeOverlay
      metadata: {name: devices}
      spec:
        requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
        capacity: {example.com/device: 4}
      """

  @karpenter-1790-device-never-comes
  Scenario: The device plugin of a machine never comes
    Given the first new simulated node is without the resource "example.com/device"
    When the scenario waits for 1m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: default}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1, example.com/device: 2}, limits: {example.com/device: 2}}}]}
      """
    Then the pod "train" is Running within 10m

  @karpenter-1790-device-comes-late
  Scenario: The device plugin of a machine comes two minutes late
    Given the first new simulated node is without the resource "example.com/device", for 2m
    When the scenario waits for 1m
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: default}
      spec: {containers: [{name: main, image: main, resources: {requests: {cpu: 1, example.com/device: 2}, limits: {example.com/device: 2}}}]}
      """
    Then the pod "train" is Running within 5m
    And 5m from now, exactly 1 NodeClaim has been created since the start
