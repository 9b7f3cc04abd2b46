# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/2349, first in v1.7.0.

@karpenter @issue-2349
Feature: A machine that cannot be launched is given up soon

  Karpenter plans for no pod while it does not know what a machine will be like.

  @karpenter-2349-launch-fails
  Scenario: A NodeClaim that a user made says too little to be launched
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: karpenter.sh/v1
      kind: NodeClaim
      metadata: {name: mine}
      spec:
        nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
        requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]
      """
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 8m
