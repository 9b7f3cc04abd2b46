@aws
Feature: Instances of EKS become the Nodes that Karpenter for AWS expects

  Scenario Outline: A pod with a selector and a toleration gets a Node of <image>, <kubelet>
    Given a cluster that kubelets can join
    And a Ready Node "system" for system pods only
    And <machines>
    And an AWS region
    And Karpenter
    And these objects:
      """
      apiVersion: karpenter.k8s.aws/v1
      kind: EC2NodeClass
      metadata: {name: default}
      spec:
        role: KarpenterNodeRole-nodestorm
        amiSelectorTerms: [{alias: <image>}]
        subnetSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
        securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: nodestorm}}]
      ---
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: default}
      spec:
        template:
          metadata:
            labels: {team: red}
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            taints: [{key: team, value: red, effect: NoSchedule}]
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [c6i.xlarge]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        tolerations: [{key: team, operator: Exists}]
        nodeSelector: {team: red}
        containers:
        - {name: app, image: app, resources: {requests: {memory: 5Gi}}}
      """
    Then the pod "web" is Running within 3m
    And 5m from now, exactly 1 NodeClaim has been created since the start

    Examples:
      | image                | kubelet   | machines                                                                                 |
      | al2023@latest        | real      | machines with kubelets that register 30s after their launch and have a network 10s later |
      | bottlerocket@latest  | real      | machines with kubelets that register 30s after their launch and have a network 10s later |
      | bottlerocket@latest  | simulated | machines that register 30s after their launch and are Ready 10s later                    |
      | bottlerocket@v1.50.0 | simulated | machines that register 30s after their launch and are Ready 10s later                    |
