# Fixed by https://github.com/kubernetes-sigs/karpenter/pull/1794

@karpenter @issue-1794
Feature: A NodeClaim expires once

  @karpenter-1794-expired-twice
  Scenario: The pod of a machine that expires takes a minute to stop
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
        disruption: {consolidateAfter: Never}
        template:
          spec:
            expireAfter: 3m
            nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
            requirements:
              - {key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}
              - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, namespace: default, annotations: {nodestorm.sim/stop-after: 1m}}
      spec:
        terminationGracePeriodSeconds: 120
        containers: [{name: main, image: main, resources: {requests: {cpu: 1}}}]
      """
    Then the pod "web" is Running within 5m
    And "karpenter" has sent "delete" of "nodeclaims" within 5m
    And the pod "web" is gone within 5m
    And this holds:
      """
      ever: true
      count: {source: api, verb: delete, resource: nodeclaims, actor: karpenter}
      atMost: 1
      """
